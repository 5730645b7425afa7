import { LedgerError } from '../n8n';
import { type Attempt, forgetEndedDoubts } from './attempts';
import type { LedgerCreation } from './creation';
import { buildDoubts, type EarlierAttempts, findEarlierAttempts, findKnownResult } from './earlier';
import { endDoubtByHash } from './enteredHash';
import { errorWithCode, findAllowedPositions } from './overrideCodes';
import { recordExisting } from './record';
import { resultNotRecordedError, type Doubt } from './refusals';

export interface Look<T> extends Pick<EarlierAttempts<T>, 'doubts' | 'voids'> {
	/** Also a result whose hash a person entered. */
	existing?: T;
	/** How the results of entered hashes differ from the request. */
	differences: string[];
}

export const NOTHING_FOUND = { doubts: [], voids: [], differences: [] };

/**
 * Looks for earlier attempts under locked keys. Records an existing result under the keys of this request, and ends
 * doubts by a hash.
 *
 * @param isAhead before any item is sent. Records a known result without reading it.
 * @throws NotSentError if an outcome is unknown, and no code allows another attempt
 * @throws LedgerError
 */
export async function lookForEarlier<T>(
	creation: LedgerCreation<T>,
	isAhead: boolean,
): Promise<Look<T>> {
	const { memory, sequences, enteredHashes } = creation;
	await forgetEndedDoubts(creation.doubtKeys, creation.ledger);
	if (isAhead && (await recordKnownResult(creation))) return NOTHING_FOUND;
	const { existing, doubts, voids } = await findEarlierAttempts(creation);
	if (existing) {
		await recordOrRefuse(creation, existing.earlier);
		await sequences.endVoids(voids);
		return { ...NOTHING_FOUND, existing: existing.made };
	}
	const isKnown = doubts.length > 0;
	// The claim asks the ledger.
	if (!isKnown && !isAhead && enteredHashes.length === 0) return { ...NOTHING_FOUND, voids };
	const isOnlyVoid = !isKnown && voids.length > 0;
	const all = isKnown ? doubts : await findDoubtsInLedger(creation);
	const blocking = isAhead ? all.filter(({ keys }) => !memory.areReserved(keys)) : all;
	const entered = await endDoubtByHash(creation, blocking, isAhead);
	const { made, unreadableError, unneededError, differences } = entered;
	const found = { doubts, voids, differences };
	if (made !== undefined) {
		if (!isAhead) await sequences.endVoids(voids);
		return { ...found, existing: made };
	}
	if (blocking.length === 0 || isOnlyVoid) {
		// Nothing is sent for an item while a hash is entered that may be its charge.
		if (unreadableError ?? unneededError) throw unreadableError ?? unneededError;
		return found;
	}
	if (!(await findAllowedPositions(creation, blocking))) {
		throw unreadableError ?? (await errorWithCode(creation, blocking, differences));
	}
	if (isAhead) memory.reserveKeys(blocking.flatMap(({ keys }) => keys));
	return found;
}

/** @returns false if no result is known, or it cannot be recorded, so that the full look must decide */
async function recordKnownResult<T>(creation: LedgerCreation<T>): Promise<boolean> {
	const known = findKnownResult(creation);
	if (!known) return false;
	return await recordExisting(creation, known).then(
		() => true,
		() => false,
	);
}

async function recordOrRefuse<T>(creation: LedgerCreation<T>, earlier: Attempt): Promise<void> {
	await recordExisting(creation, earlier).catch((error: unknown) => {
		if (!(error instanceof LedgerError)) throw error;
		throw resultNotRecordedError(creation, earlier, error.message);
	});
}

async function findDoubtsInLedger<T>(creation: LedgerCreation<T>): Promise<Doubt[]> {
	const claimed: string[] = [];
	for (const key of creation.ledgerKeys) {
		if (await creation.ledger?.hasKey(key)) claimed.push(key);
	}
	return buildDoubts(creation, claimed);
}
