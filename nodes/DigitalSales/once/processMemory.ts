import type { Attempt } from '../api/attempt';
import { processState } from '../api/processState';

/** What this process knows under a key. */
export function recall(key: string): Attempt | undefined {
	return processState.attempts.get(key);
}

/** Enters an attempt under keys. */
export function remember(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) processState.attempts.set(key, attempt);
}

/** Takes keys out again. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) processState.attempts.delete(key);
}
