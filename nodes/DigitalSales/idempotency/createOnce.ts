import { CanceledError } from '../shared/clock';
import { Claim } from './claim';
import type { Created, Creation } from './creation';
import { isKnownMade } from './earlier';
import { identify } from './keys';
import { otherOrder } from './refusals';

/**
 * Makes something, or returns what was made before. Just before anything is sent, the attempt is recorded
 * in the process, the execution and n8n's database; only a provable refusal takes it out again.
 *
 * @throws NotSentError if it may have been made before, or cannot be recorded; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { oneByOne, problem, tries } = creation;
	const claim = new Claim(creation);
	try {
		const existing = await oneByOne.turn('look', claim.look);
		if (existing) return { made: existing, isExisting: true, isRepeated: false };
		if (problem) throw problem;
		for await (const send of tries) {
			await oneByOne.turn('claim', claim.take);
			const made = await send();
			if (made !== undefined) {
				const isRepeated = claim.knows(made);
				await claim.made(made);
				return { made, isExisting: false, isRepeated };
			}
			await claim.pause();
		}
		throw new CanceledError();
	} catch (error) {
		oneByOne.failed(error);
		throw await claim.failed(error);
	} finally {
		claim.release();
	}
}

/**
 * Refuses now what is known to be refused later, and then nothing of its run is sent.
 *
 * @throws NotSentError
 */
export async function refuseAhead<T>(creation: Creation<T>): Promise<void> {
	const { memory, fingerprint, oneByOne } = creation;
	const { order } = identify(creation);
	if (order !== undefined && memory.isTaken(order, fingerprint)) throw otherOrder(creation);
	if (isKnownMade(creation)) return;
	const claim = new Claim(creation);
	try {
		await claim.look(oneByOne.signal, true);
	} catch (error) {
		throw await claim.failed(error);
	} finally {
		claim.release();
	}
}
