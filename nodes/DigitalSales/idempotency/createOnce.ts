import { CanceledError } from '../shared/clock';
import { Claim } from './claim';
import type { Created, Creation } from './creation';
import { isAlreadyMade } from './earlier';
import { makeKeys } from './keys';
import { refuseOtherOrder } from './refusals';

/**
 * Creates something, or returns the existing result. The claim records the attempt in the process, the execution and
 * n8n's database just before the request is sent. Only proof that the request was not processed removes the record.
 *
 * @throws NotSentError if an earlier attempt may have succeeded, or the attempt cannot be recorded
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { itemOrder, problem, tries } = creation;
	const claim = new Claim(creation);
	try {
		const existing = await itemOrder.runInOrder('look', claim.findExisting);
		if (existing) return { made: existing, isExisting: true, reusesHash: false };
		if (problem) throw problem;
		for await (const send of tries) {
			await itemOrder.runInOrder('claim', claim.acquireKeys);
			const made = await send();
			// Undefined after a 429, or if the request did not leave. The client then waits before the next try.
			if (made !== undefined) {
				const reusesHash = claim.knowsHashOf(made);
				await claim.complete(made);
				return { made, isExisting: false, reusesHash };
			}
			await claim.suspend();
		}
		throw new CanceledError();
	} catch (error) {
		itemOrder.stopAfter(error);
		throw await claim.fail(error);
	} finally {
		claim.unlock();
	}
}

/**
 * Refuses an item before any item of its run is sent, if `createOnce` would refuse it later.
 *
 * @throws NotSentError
 */
export async function refuseAhead<T>(creation: Creation<T>): Promise<void> {
	const { memory, fingerprint, itemOrder } = creation;
	const { orderKey } = makeKeys(creation);
	if (orderKey !== undefined && memory.hasOtherRequest(orderKey, fingerprint)) {
		throw refuseOtherOrder(creation);
	}
	if (isAlreadyMade(creation)) return;
	const claim = new Claim(creation);
	try {
		await claim.findExisting(itemOrder.signal, true);
	} catch (error) {
		throw await claim.fail(error);
	} finally {
		claim.unlock();
	}
}
