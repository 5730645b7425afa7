import { z } from 'zod/v3';
import type { Ledger } from '../n8n';
import { BoundedMap, jsonObject, processState } from '../shared';

export const attemptSchema = z.object({
	/** Owns the attempt's keys in the ledger. */
	id: z.string(),
	/** Unresolved from just before the send until the outcome is known. */
	state: z.enum(['unresolved', 'made']),
	account: z.string(),
	fingerprint: z.string(),
	typedFingerprint: z.string().optional(),
	purchaseFingerprint: z.string().optional(),
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
	/** How the item found another item's result: by an idempotency key, or by an entered hash. */
	replayedBy: z.enum(['key', 'hash']).optional(),
});

export type Attempt = z.output<typeof attemptSchema>;

/**
 * By idempotency key.
 *
 * @internal
 */
export const attempts = processState(
	new BoundedMap<Attempt>({ most: 40_000, isKept: ({ state }) => state === 'unresolved' }),
);

export function findAttempt(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : attempts.get(key);
}

export function rememberAttempt(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) attempts.set(key, attempt);
}

export function forgetKeys(keys: readonly string[]): void {
	for (const key of keys) attempts.delete(key);
}

/** Another process may have ended a doubt that this one remembers. */
export async function forgetEndedDoubts(
	doubtKeys: readonly string[],
	ledger: Ledger | undefined,
): Promise<void> {
	for (const key of doubtKeys) {
		const attempt = findAttempt(key);
		if (!ledger || !attempt) continue;
		const isOpen = await ledger.isOwner(key, attempt.id).catch(() => true);
		if (!isOpen) forgetKeys([key]);
	}
}

export function isChargeKnown(hash: string): boolean {
	return attempts.some(({ result }) => result?.hash === hash);
}
