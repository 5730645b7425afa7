import { BoundedMap } from '../shared/boundedMap';
import { processWide } from '../shared/processWide';
import type { Attempt } from './attempt';

/**
 * What was made or is being made, by its names; what is in doubt goes last.
 *
 * @internal
 */
export const attempts = processWide(
	new BoundedMap<Attempt>({ most: 10_000, isKept: ({ state }) => state === 'inDoubt' }),
);

/** What this process knows under a key. */
export function recall(key: string): Attempt | undefined {
	return attempts.get(key);
}

/** Enters an attempt under keys. */
export function remember(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) attempts.set(key, attempt);
}

/** Takes keys out again. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) attempts.delete(key);
}
