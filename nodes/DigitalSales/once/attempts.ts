import type { IDataObject } from 'n8n-workflow';
import { BoundedMap } from '../shared/boundedMap';
import { processWide } from '../shared/processWide';

/** An attempt to create something that may exist only once. */
export interface Attempt {
	/** In doubt from just before the request leaves until its outcome is known. */
	state: 'inDoubt' | 'made';
	/** The key of the account in which it was made. */
	account: string;
	/** Who was charged for what. */
	fingerprint: string;
	/** The total in integer cents, if known. */
	amount?: number;
	/** In milliseconds of unix time. */
	startedAt: number;
	/** How many codes the user had given for it. */
	allowed: number;
	/** What was made: enough of it to return it again. */
	result?: IDataObject;
}

/**
 * The attempts that this process knows, by the keys of their identity; those in doubt go last.
 *
 * @internal
 */
export const attempts = processWide(
	new BoundedMap<Attempt>({ most: 10_000, isKept: ({ state }) => state === 'inDoubt' }),
);

/** What this process knows under a key. */
export function recall(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : attempts.get(key);
}

/** Remembers an attempt under keys. */
export function remember(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) attempts.set(key, attempt);
}

/** Forgets keys. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) attempts.delete(key);
}
