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

/** What this process knows of an idempotency key. */
interface KnownKey {
	attempt?: Attempt;
	/** The latest taken position (see positions.ts), or 0. */
	position: number;
}

/** @internal */
export const knownKeys = processState(
	new BoundedMap<KnownKey>({
		most: 40_000,
		isKept: ({ attempt }) => attempt?.state === 'unresolved',
	}),
);

export function findAttempt(key: string | undefined): Attempt | undefined {
	return key === undefined ? undefined : knownKeys.get(key)?.attempt;
}

export function rememberAttempt(keys: readonly string[], attempt: Attempt): void {
	for (const key of keys) updateKey(key, { attempt });
}

/** Their positions stay known. */
export function forgetAttempts(keys: readonly string[]): void {
	for (const key of keys) updateKey(key, { attempt: undefined });
}

export function latestPosition(key: string): number {
	return knownKeys.get(key)?.position ?? 0;
}

export function rememberPosition(key: string, position: number): void {
	updateKey(key, { position });
}

function updateKey(key: string, changes: Partial<KnownKey>): void {
	const known = { position: 0, ...knownKeys.get(key), ...changes };
	if (known.attempt !== undefined || known.position > 0) knownKeys.set(key, known);
	else knownKeys.delete(key);
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
		if (!isOpen) forgetAttempts([key]);
	}
}

export function isChargeKnown(hash: string): boolean {
	return knownKeys.some(({ attempt }) => attempt?.result?.hash === hash);
}
