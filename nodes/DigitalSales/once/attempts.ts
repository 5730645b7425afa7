import { z } from 'zod';
import { BoundedMap, processWide } from '../shared/processWide';
import { jsonObject } from '../shared/json';

/** An attempt to create something that may exist only once. */
export const attemptSchema = z.object({
	/** In doubt from just before the request leaves until its outcome is known. */
	state: z.enum(['inDoubt', 'made']),
	/** The key of the account in which it was made. */
	account: z.string(),
	/** Who was charged for what. */
	fingerprint: z.string(),
	/** The same in a few words, to look it up by. */
	about: z.string(),
	orderReference: z.string().optional(),
	/** In milliseconds of unix time. */
	startedAt: z.number(),
	/** The latest turn that was taken until then; 0 if none was. */
	turn: z.number(),
	/** What was made: enough of it to return it again. */
	result: jsonObject.optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

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

/** Forgets keys. */
export function forget(keys: readonly string[]): void {
	for (const key of keys) attempts.delete(key);
}
