import { ServiceError } from '../api';
import { CanceledError, lockKeys } from '../shared';
import { Claim, giveReference, recordExisting } from './claim';
import { decide } from './decide';
import type { Created, Creation } from './keys';
import { findEarlier, lockedKeys } from './look';
import * as refusals from './refusals';

/**
 * Creates a charge or an offer, or returns the existing one: look, decide, claim, send, record.
 *
 * @throws NotSentError for an earlier charge or offer, for the problem that is found, or if n8n's database fails
 * @throws ServiceError if the platform refused the request, or its outcome is unknown
 * @throws CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { findProblem, signal, stopOthers, tries } = creation;
	const unlock = await lockKeys(lockedKeys(creation), signal);
	let claim: Claim<T> | undefined;

	try {
		const found = await findEarlier(creation);
		if (found.current !== undefined) return await recordExisting(creation, found, found.current);

		const decided = await decide(creation, found);
		if (decided !== undefined) return await new Claim(creation, found).recordDecided(decided);
		const problem = findProblem?.();
		if (problem) throw problem;

		for await (const send of tries) {
			claim = new Claim(creation, found);
			await claim.acquire();

			const made = await send();
			if (made !== undefined) return await claim.record(made);
			// After a 429, or if the request did not leave.
			await claim.release();
		}
		throw new Error('Not reached, because the tries never end');
	} catch (error) {
		// Now, because freeing the keys may take some time.
		stopOthers();
		throw await endAfter(creation, claim, error);
	} finally {
		unlock();
	}
}

/**
 * Refuses an item that `createOnce` would refuse, before any item of the run is sent. A single item needs no look ahead.
 *
 * @throws NotSentError, CanceledError
 */
export async function refuseAhead<T>(creation: Creation<T>): Promise<void> {
	const { context, memory, signal, findProblem, identity, fingerprint } = creation;
	if (context.getInputData().length === 1) return;
	// Without an Order Reference, the identity has the fingerprint in it.
	if (memory.noteDistinct(identity, fingerprint) > 1) throw refusals.repeatedOrderError(creation);

	const unlock = await lockKeys(lockedKeys(creation), signal);
	try {
		const found = await findEarlier(creation, true);
		const decided = await decide(creation, found);
		const isNew = !found.existing && decided === undefined;
		const problem = isNew && findProblem?.();
		if (problem) throw problem;

		// Recorded now, because the run may stop before the item.
		if (found.existing) await giveReference(creation, found);
		if (found.doubt) memory.releasedAhead.add(fingerprint);
	} catch (error) {
		throw refusals.replaceLedgerError(creation, error);
	} finally {
		unlock();
	}
}

/** Frees the keys if nothing was made, else leaves them to a person's decision. Returns the error of the item. */
async function endAfter<T>(
	creation: Creation<T>,
	claim: Claim<T> | undefined,
	error: unknown,
): Promise<unknown> {
	const isNotMade =
		error instanceof CanceledError || (error instanceof ServiceError && !error.isInDoubt);

	if (claim?.isInFlight && !isNotMade) {
		await claim.leaveInDoubt();
		if (error instanceof ServiceError) error.advice = refusals.wayOut(creation);
		if (creation.isAgentCall) refusals.logDoubt(creation);
	} else {
		await claim?.release();
	}

	return refusals.replaceLedgerError(creation, error);
}
