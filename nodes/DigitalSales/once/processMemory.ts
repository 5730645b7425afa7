import type { Attempt } from '../api/attempt';
import { processState } from '../api/processState';

const MOST_ATTEMPTS = 10_000;

/** What this process knows under a key. */
export function recall(key: string): Attempt | undefined {
	return processState.attempts.get(key);
}

/** Enters an attempt under keys; a surplus is dropped, what is in doubt last. */
export function remember(keys: readonly string[], attempt: Attempt): void {
	const { attempts } = processState;
	for (const key of keys) {
		attempts.delete(key);
		attempts.set(key, attempt);
	}
	if (attempts.size > MOST_ATTEMPTS) dropOldest(({ state }) => state === 'made');
	if (attempts.size > MOST_ATTEMPTS) dropOldest(() => true);
}

/** Takes keys out again. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) processState.attempts.delete(key);
}

function dropOldest(mayGo: (attempt: Attempt) => boolean): void {
	const { attempts } = processState;
	for (const [key, attempt] of attempts) {
		if (attempts.size <= MOST_ATTEMPTS) return;
		if (mayGo(attempt)) attempts.delete(key);
	}
}
