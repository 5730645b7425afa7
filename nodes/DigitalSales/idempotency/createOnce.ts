import { ServiceError } from '../api';
import { LedgerError } from '../n8n';
import { CanceledError, lockKeys } from '../shared';
import { Claim, giveReference, recordExisting } from './claim';
import { againKey, type Created, type Creation } from './keys';
import { type Found, isKeyTaken, lockedKeys, lookForEarlier } from './look';
import * as refusals from './refusals';
import { tell } from './told';

/**
 * Creates a charge or an offer, or returns the existing one: look, decide, claim, send, record.
 *
 * @throws NotSentError if an earlier attempt may have succeeded, or the attempt cannot be recorded
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { itemOrder, problem, tries } = creation;
	let unlock = (): void => undefined;
	let claim: Claim<T> | undefined;

	try {
		const { found, decided } = await itemOrder.runInOrder('look', async (signal) => {
			unlock = await lockKeys(lockedKeys(creation), signal);
			return await lookAndDecide(creation);
		});
		const { existing, made: known } = found;
		if (existing && known !== undefined) {
			return await recordExisting(creation, found, existing, known);
		}
		if (decided !== undefined) return await new Claim(creation, found).recordDecided(decided);
		if (problem) throw problem;

		for await (const send of tries) {
			claim = new Claim(creation, found);
			await itemOrder.runInOrder('claim', claim.acquire);

			const made = await send();
			if (made !== undefined) return await claim.record(made);
			// After a 429, or if the request did not leave.
			await claim.release();
		}
		throw new CanceledError();
	} catch (error) {
		itemOrder.stopAfter(error);
		throw await endAfter(creation, claim, error);
	} finally {
		unlock();
	}
}

/**
 * Refuses an item that `createOnce` would refuse, before any item of the run is sent. A single item needs no look ahead.
 *
 * @throws NotSentError
 */
export async function refuseAhead<T>(creation: Creation<T>): Promise<void> {
	const { context, memory, itemOrder, problem } = creation;
	const { identity, unresolved, fingerprint, orderReference } = creation;
	if (context.getInputData().length === 1) return;
	if (orderReference !== undefined && !memory.reserveOrder(identity, fingerprint)) {
		throw refusals.repeatedOrderError(creation);
	}

	const unlock = await lockKeys(lockedKeys(creation), itemOrder.signal);
	try {
		const { found, decided } = await lookAndDecide(creation, true);
		// Recorded now, because the run may stop before the item.
		if (found.existing) await giveReference(creation, found, found.existing);
		else if (decided === undefined && problem) throw problem;
		if (found.doubt && unresolved !== undefined) memory.decided.add(unresolved);
	} catch (error) {
		throw refusals.ofLedger(creation, error);
	} finally {
		unlock();
	}
}

async function lookAndDecide<T>(
	creation: Creation<T>,
	isAhead = false,
): Promise<{ found: Found<T>; decided?: T }> {
	const found = await lookForEarlier(creation, isAhead);
	const decided = found.doubt && (await decide(creation, found, found.doubt));

	return { found, decided };
}

/**
 * Applies what a person has said about the charge in doubt.
 *
 * @returns the charge that was found, or undefined if it is to be made
 * @throws NotSentError if nobody has, or what was found is not this charge
 */
async function decide<T>(
	creation: Creation<T>,
	{ ends: [key = ''] }: Found<T>,
	doubt: refusals.Doubt,
): Promise<T | undefined> {
	const { decision, findDifferences } = creation;
	const told = await tell(creation, key, doubt.attempt === undefined);
	if (!decision) throw refusals.inDoubtError(creation, doubt);

	const { hash } = decision;
	// A hash sends nothing, so it need not wait for what may be under way.
	const isTooNew = told === 'now' || (told === 'minutes ago' && hash === undefined);
	if (isTooNew) throw refusals.inDoubtError(creation, { ...doubt, isTooNew });

	if (hash === undefined) {
		const isSpent = await isKeyTaken(creation, againKey(creation, key));
		if (isSpent) throw refusals.inDoubtError(creation, { ...doubt, isSpent });
		return undefined;
	}

	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		const answered = refusals.describeAnswer(error.outcome);
		throw refusals.hashError(creation, hash, `could not be read (the platform ${answered})`);
	});
	const differences = creation.isVoid(made) ? ['has failed or expired'] : findDifferences?.(made);
	if (differences?.length) throw refusals.hashError(creation, hash, differences.join(' and '));

	return made;
}

async function endAfter<T>(
	creation: Creation<T>,
	claim: Claim<T> | undefined,
	error: unknown,
): Promise<unknown> {
	const isRefused = error instanceof ServiceError && !error.isInDoubt;
	const isNotSent = isRefused || error instanceof CanceledError || error instanceof LedgerError;

	if (isNotSent || !claim?.isInFlight) await claim?.release();
	else {
		await claim.leaveInDoubt();
		if (error instanceof ServiceError) error.advise(refusals.wayOut(creation, {}));
		if (creation.isAgentCall) refusals.logDoubt(creation);
	}

	return refusals.ofLedger(creation, error);
}
