import { CanceledError } from '../shared/clock';
import { Claim } from './claim';
import type { Created, Creation } from './creation';
import { isAlreadyMade } from './earlier';
import { makeKeys } from './keys';
import { refuseOtherOrder } from './refusals';

/**
 * Makes something, or returns the existing result. Just before a request is sent, the attempt is recorded in the
 * process, the execution and n8n's database. Only an answer that proves it was not processed removes the record.
 *
 * @throws Refusal if it may have been made before, or cannot be recorded. Nothing is sent then.
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { itemOrder, problem, tries } = creation;
	const claim = new Claim(creation);
	try {
		const existing = await itemOrder.runInOrder('look', claim.look);
		if (existing) return { made: existing, isExisting: true, reusesHash: false };
		if (problem) throw problem;
		for await (const send of tries) {
			await itemOrder.runInOrder('claim', claim.take);
			const made = await send();
			if (made !== undefined) {
				const reusesHash = claim.knowsHashOf(made);
				await claim.complete(made);
				return { made, isExisting: false, reusesHash };
			}
			await claim.pause();
		}
		throw new CanceledError();
	} catch (error) {
		itemOrder.stopAfter(error);
		throw await claim.fail(error);
	} finally {
		claim.release();
	}
}

/**
 * Refuses an item that would be refused later, before any item of its run is sent.
 *
 * @throws Refusal
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
		await claim.look(itemOrder.signal, true);
	} catch (error) {
		throw await claim.fail(error);
	} finally {
		claim.release();
	}
}
