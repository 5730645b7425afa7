import { ServiceError } from '../api';
import { isSameReference } from '../domain';
import { Ledger, LedgerError } from '../n8n';
import { CanceledError, clock, lockKeys } from '../shared';
import { Claim, giveReference, recordExisting, recordMade } from './claim';
import type { Created, Creation } from './keys';
import {
	buildAttempt,
	type Found,
	identitiesOf,
	isKeyTaken,
	lookForEarlier,
	toldKey,
} from './look';
import { findOrderOf } from './memory';
import * as refusals from './refusals';

/**
 * Creates a charge or an offer, or returns the existing one: look, claim, send, record.
 *
 * @throws NotSentError if an earlier attempt may have succeeded, or the attempt cannot be recorded
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	const { itemOrder, problem, tries } = creation;
	let unlock = (): void => undefined;
	let claim: Claim<T> | undefined;

	try {
		const found = await itemOrder.runInOrder('look', async (signal) => {
			unlock = await lockKeys(keysOf(creation), signal);
			return await lookForEarlier(creation);
		});

		if (found.existing) return await recordExisting(creation, found, found.existing);
		if (found.doubt) {
			const made = await decide(creation, found, found.doubt);
			if (made !== undefined) return await recordDecided(creation, found, found.doubt, made);
		}
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
	const { context, identity, unresolved, fingerprint, memory, orderReference } = creation;
	const { problem, itemOrder } = creation;
	if (context.getInputData().length === 1) return;
	if (orderReference !== undefined && !memory.reserveOrder(identity, fingerprint)) {
		throw refusals.repeatedOrderError(creation);
	}

	const unlock = await lockKeys(keysOf(creation), itemOrder.signal);
	try {
		const found = await lookForEarlier(creation, { isAhead: true });
		if (found.existing) return;
		if (found.known) return await giveReference(creation, found, found.known);

		const decided = found.doubt && (await decide(creation, found, found.doubt));
		if (decided === undefined && problem) throw problem;
		if (found.doubt && unresolved !== undefined) memory.decided.add(unresolved);
	} catch (error) {
		throw await refusalOf(creation, error);
	} finally {
		unlock();
	}
}

function keysOf<T>(creation: Creation<T>): string[] {
	const { unresolved } = creation;
	const identities = identitiesOf(creation);

	return unresolved === undefined ? identities : [...identities, unresolved];
}

/**
 * A person has looked for the charge in doubt.
 *
 * @returns the charge that was found, or undefined if it is to be made
 * @throws NotSentError if nobody has, or what was found is not this charge
 */
async function decide<T>(
	creation: Creation<T>,
	{ ends: [key = ''] }: Found<T>,
	doubt: refusals.Doubt,
): Promise<T | undefined> {
	const { decision, orderReference, findDifferences, unresolved = key } = creation;
	const doubtKey = doubt.isOfOthers ? unresolved : key;
	if (!decision) throw new refusals.InDoubt(doubtKey, doubt);

	const { hash } = decision;
	if (hash === undefined) {
		const isSpent = await isKeyTaken(creation, refusals.againKey(key, creation.unresolved));
		const isTooEarly = doubt.attempt === undefined && !(await isToldLongAgo(creation, doubtKey));
		if (isSpent || isTooEarly) {
			throw new refusals.InDoubt(doubtKey, { ...doubt, isSpent, isTooEarly });
		}
		return undefined;
	}

	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		throw refusals.decisionUnreadableError(creation, hash, error.outcome);
	});
	const order = orderReference === undefined ? undefined : findOrderOf(hash);
	const isOtherOrder = order !== undefined && !isSameReference(order, orderReference ?? '');
	const differences = [
		...(creation.isVoid(made) ? ['has failed or expired'] : (findDifferences?.(made) ?? [])),
		...(isOtherOrder ? ['belongs to another Order Reference'] : []),
	];
	if (differences.length > 0) throw refusals.decisionDiffersError(creation, hash, differences);

	return made;
}

/** An entry that was left behind must not repeat what another process is charging now. */
async function isToldLongAgo<T>({ context }: Creation<T>, key: string): Promise<boolean> {
	const told = await Ledger.forContext(context)?.readText(toldKey(key));

	return told !== undefined && clock.now() - Number(told) >= refusals.DECISION_DELAY_MS;
}

async function recordDecided<T>(
	creation: Creation<T>,
	{ ends }: Found<T>,
	{ isOfOthers = false }: refusals.Doubt,
	made: T,
): Promise<Created<T>> {
	const [key = ''] = ends;
	const result = creation.toStoredResult(made);
	const attempt = buildAttempt(creation, key, { state: 'made', result });
	const isReplayed = !creation.isFirst;
	// Before the doubt ends, so that a crash in between leaves no way to charge again.
	const ledger = Ledger.forContext(creation.context);
	for (const end of ends) await ledger?.claimKey(end, attempt.id);
	await recordMade(creation, ends, attempt, { isReplayed, endsDoubtOfOthers: isOfOthers });

	return { made, isExisting: true, isReplayed, isDecided: true };
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
		for (const key of claim.keys()) await noteTold(creation, key);
		if (error instanceof ServiceError) error.advise(refusals.wayOut(creation, {}));
		if (creation.isAgentCall) refusals.logDoubt(creation);
	}

	return await refusalOf(creation, error);
}

async function refusalOf<T>(creation: Creation<T>, error: unknown): Promise<unknown> {
	if (error instanceof LedgerError) return refusals.notRecordedError(creation, error);
	if (!(error instanceof refusals.InDoubt)) return error;

	await noteTold(creation, error.key);
	return refusals.inDoubtError(creation, error.doubt);
}

/** Only the first time stays. A time that the database kept in part would never be read, so it is replaced. */
async function noteTold<T>({ context }: Creation<T>, key: string): Promise<void> {
	const ledger = Ledger.forContext(context);
	const isKept = await ledger?.readText(toldKey(key)).catch(() => undefined);
	if (isKept !== undefined) return;

	await ledger?.deleteText(toldKey(key)).catch(() => undefined);
	await ledger?.storeText(toldKey(key), String(clock.now()));
}
