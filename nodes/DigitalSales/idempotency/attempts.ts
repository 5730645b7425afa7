import { z } from 'zod/v3';
import { jsonObject } from '../shared/json';
import { BoundedMap, processState } from '../shared/processState';

/** An attempt to create something that may exist only once. */
export const attemptSchema = z.object({
	id: z.string(),
	/** Unresolved from just before the request is sent until its outcome is known. */
	state: z.enum(['unresolved', 'made']),
	/** The key of the account. */
	account: z.string(),
	fingerprint: z.string(),
	typedFingerprint: z.string().optional(),
	goodsFingerprint: z.string().optional(),
	customerFingerprint: z.string().optional(),
	/** Cart, amount and last digits of the document, to look it up by. */
	about: z.string(),
	orderReference: z.string().optional(),
	/** Milliseconds of unix time. */
	startedAt: z.number(),
	/** The latest position of its sequence when the attempt began, or 0. */
	position: z.number(),
	/** The fields of the result that are needed to read it again. */
	result: jsonObject.optional(),
	/** The owner of the result's key in the ledger, if a person entered the hash of a charge without an order. */
	doubtKey: z.string().optional(),
	/** Whether another execution made the result. */
	isReplay: z.boolean().optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/**
 * The attempts that this process knows, by their keys. Order keys have a map of their own, because an order may be
 * repeated long after other keys have been evicted.
 *
 * @internal
 */
export const attempts = { orders: createAttemptMap(), others: createAttemptMap() };

function createAttemptMap(): BoundedMap<Attempt> {
	const isKept = ({ state }: Attempt): boolean => state === 'unresolved';
	return processState(new BoundedMap({ most: 10_000, isKept }));
}

function attemptsByKey(key: string): BoundedMap<Attempt> {
	return key.startsWith('order') ? attempts.orders : attempts.others;
}

export function findAttempt(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : attemptsByKey(key).get(key);
}

export function rememberAttempt(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) attemptsByKey(key).set(key, attempt);
}

export function forgetKeys(keys: readonly string[]): void {
	for (const key of keys) attemptsByKey(key).delete(key);
}
