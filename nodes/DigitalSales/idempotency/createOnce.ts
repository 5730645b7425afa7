import { CanceledError } from '../shared';
import { Claim } from './claim';
import type { Created, Creation } from './creation';
import { hasAttemptOfSameRequest } from './earlier';
import { repeatedOrderError } from './refusals';

/**
 * Creates a charge or an offer, or returns the existing result. The attempt is recorded before it is sent. Unless a
 * person enters a code or hash, only proof that it was not processed, or a void result, removes the record.
 *
 * @throws NotSentError if an earlier attempt may have succeeded, or the attempt cannot be recorded
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { itemOrder, problem, tries, memory, itemKey, itemNumbers } = creation;
	const claim = new Claim(creation);
	try {
		const existing = await itemOrder.runInOrder('look', claim.lockAndLook);
		if (existing) {
			const isReplayed = memory.getAttempt(itemKey)?.replayedBy !== undefined;
			memory.markReturned(itemNumbers);
			return { made: existing, isExisting: true, isReplayed };
		}
		if (problem) throw problem;
		for await (const send of tries) {
			await itemOrder.runInOrder('claim', claim.acquireKeys);
			const made = await send();
			// Undefined after a 429, or if the request did not leave.
			if (made !== undefined) {
				return { made, isExisting: false, ...(await claim.recordResult(made)) };
			}
			await claim.releaseBetweenTries();
		}
		throw new CanceledError();
	} catch (error) {
		itemOrder.stopAfter(error);
		throw await claim.endAfterError(error);
	} finally {
		claim.unlock();
	}
}

/**
 * Refuses an item that `createOnce` would refuse, before any item of the run is sent. Records an existing
 * result, because the run may stop before the item. A single item needs no look ahead.
 *
 * @throws NotSentError
 */
export async function refuseAhead<T>(creation: Creation<T>): Promise<void> {
	const { context, problem, orderKey, memory, fingerprint, itemOrder } = creation;
	if (context.getInputData().length === 1) return;
	if (problem && !hasAttemptOfSameRequest(creation)) throw problem;
	const claim = new Claim(creation);
	if (orderKey !== undefined && !memory.reserveOrder(orderKey, fingerprint)) {
		throw repeatedOrderError(creation);
	}
	try {
		await claim.lockAndLook(itemOrder.signal, { isAhead: true });
	} catch (error) {
		throw await claim.endAfterError(error);
	} finally {
		claim.unlock();
	}
}
