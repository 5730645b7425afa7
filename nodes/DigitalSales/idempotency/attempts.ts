import { z } from 'zod/v3';
import { BoundedMap, jsonObject, processState } from '../shared';

export const attemptSchema = z.object({
	/** Owns the attempt's keys in the ledger. */
	id: z.string(),
	/** Unresolved from just before the send until the outcome is known. */
	state: z.enum(['unresolved', 'made']),
	account: z.string(),
	fingerprint: z.string(),
	typedFingerprint: z.string().optional(),
	goodsFingerprint: z.string().optional(),
	customerFingerprint: z.string().optional(),
	/** Of an agent's call. */
	agentCall: z.string().optional(),
	about: z.string(),
	orderReference: z.string().optional(),
	/** Unix time in milliseconds. */
	startedAt: z.number(),
	/** The latest taken position of each ledger key. */
	positions: z.record(z.number()),
	/** The fields that `readAgain` needs. */
	result: jsonObject.optional(),
	/** Owns the result's key in the ledger, if a person entered the hash without an Order Reference. */
	resultOwner: z.string().optional(),
	/** How the item found the result of another execution or item: by an idempotency key, or by the hash that a person entered. */
	replayedBy: z.enum(['key', 'hash']).optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/**
 * Order keys have their own map, because an order may be repeated long after other keys were evicted.
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

export function isChargeKnown(hash: string): boolean {
	return attempts.others.listEntries().some(([, { result }]) => result?.hash === hash);
}
