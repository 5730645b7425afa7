import { compact, omitBy, uniq, upperFirst } from 'lodash';
import { type FailedOutcome, ServiceError } from '../api';
import type { NotSentError } from '../output';
import { quoteText, RUN_AGAIN } from '../domain';
import { digest } from '../shared';
import { type Attempt, findAttempt, forgetKeys } from './attempts';
import type { LedgerCreation, Subject } from './creation';
import { hasOtherReference, isSamePurchase } from './earlier';
import { isDoubtKey, resultKey } from './keys';
import { looksLikeCode } from './enteredText';
import { buildAttempt, recordExisting } from './record';
import {
	isUnknownToService,
	newNotSentError,
	notSentPhrase,
	readFailedError,
	type Doubt,
} from './refusals';

interface HashOutcome<T> {
	made?: T;
	unreadableError?: NotSentError;
	/** No charge of the item is in doubt, or the hash belongs to another item. */
	unneededError?: NotSentError;
	differences: string[];
}

/**
 * Reads the entered hashes. The first that fits ends the doubt about this item.
 *
 * @throws LedgerError
 */
export async function endDoubtByHash<T>(
	creation: LedgerCreation<T>,
	doubts: readonly Doubt[],
	isAhead: boolean,
): Promise<HashOutcome<T>> {
	const { hashCheck, memory } = creation;
	const differences: string[] = [];
	let unreadableError: NotSentError | undefined;
	let unneededError: NotSentError | undefined;
	const attempts = findOwnAttempts(creation, doubts);
	for (const hash of creation.enteredHashes) {
		const key = resultKey(creation, hash);
		const isOfOrder = await isHashOfOrder(creation, hash);
		// The charge may be that of an attempt for another order.
		if (!isOfOrder && attempts.some((attempt) => hasOtherReference(creation, attempt))) continue;
		const candidates = isOfOrder ? [] : attempts;
		const made = await readEnteredHash(creation, hash, candidates).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			// Somebody may have typed a code without its dash.
			if (doubts.length === 0 && looksLikeCode(hash)) return undefined;
			unreadableError ??= unreadableHashError(creation, hash, error.outcome, doubts.length > 0);
			return undefined;
		});
		if (made === undefined) continue;
		const differing = hashCheck?.findDifferences(made) ?? [];
		if (differing.length > 0) {
			differences.push(`Transaction ${quoteText(hash)} has ${differing.join(' and ')}.`);
			continue;
		}
		// The hash is that of an earlier item of this run.
		if (isAhead && memory.areReserved([key])) continue;
		// An item without a doubt must not take the hash of an equal item.
		if (doubts.length === 0) {
			return { unneededError: noDoubtForHashError(creation, hash), differences };
		}
		const isFree =
			(await isFreeOrOwnHash(creation, hash)) &&
			(isAhead || (await recordEnteredHash(creation, hash, made, attempts)));
		if (!isFree) {
			unneededError ??= noDoubtForHashError(creation, hash);
			continue;
		}
		// If the order already had this charge, the doubt stays.
		const endedKeys = isOfOrder ? [] : doubts.flatMap(({ keys }) => keys);
		if (isAhead) memory.reserveKeys([key, ...endedKeys]);
		else if (!isOfOrder) await endDoubts(creation, attempts, made);
		return { made, differences };
	}
	return { unreadableError, unneededError, differences };
}

async function endDoubts<T>(
	creation: LedgerCreation<T>,
	attempts: readonly Attempt[],
	made: T,
): Promise<void> {
	const { ledgerKeys, ledger, sequences } = creation;
	const result = creation.toStoredResult(made);
	const key = resultKey(creation, result.hash);
	const resultOwner = findAttempt(key)?.resultOwner;
	const keys = [...ledgerKeys, ...attempts.flatMap(({ positions }) => Object.keys(positions))];
	const doubtKeys = uniq(keys).filter((each) => {
		const holder = findAttempt(each);
		return isDoubtKey(each) && (holder === undefined || attempts.includes(holder));
	});
	for (const attempt of attempts) {
		const latest = { ...attempt.positions, ...sequences.latestKnown([key]) };
		const positions = omitBy(latest, (_position, each) => isDoubtKey(each));
		// Other executions of this process hold the same object.
		Object.assign(attempt, { state: 'made', result, positions, resultOwner });
	}
	forgetKeys(doubtKeys);
	// A key that stays can only cause a refusal.
	await ledger?.deleteKeys(doubtKeys).catch(() => undefined);
}

/** The attempts whose doubt a hash ends: this item's, else this Order Reference's, else all for the purchase. */
function findOwnAttempts<T>(
	{ memory, itemKey, orderReference }: LedgerCreation<T>,
	doubts: readonly Doubt[],
): Attempt[] {
	const same = compact(doubts.map(({ isSame, attempt }) => isSame && attempt));
	const ofItem = same.filter(({ id }) => id === memory.getAttempt(itemKey)?.id);
	const ofOrder = same.filter((attempt) => attempt.orderReference === orderReference);
	return [ofItem, ofOrder, same].find((attempts) => attempts.length > 0) ?? [];
}

/** A hash belongs to one order or, without an Order Reference, to one item of an execution. */
function hashOwner<T>({ orderKey, slotKeys }: LedgerCreation<T>): string {
	return orderKey ?? digest(...slotKeys);
}

async function isFreeOrOwnHash<T>(creation: LedgerCreation<T>, hash: string): Promise<boolean> {
	const key = resultKey(creation, hash);
	const { ledger } = creation;
	if (!(await ledger?.hasKey(key))) return true;
	return (await ledger?.claimKey(key, hashOwner(creation))) === true;
}

/** @returns false if another request has recorded the hash meanwhile */
async function recordEnteredHash<T>(
	creation: LedgerCreation<T>,
	hash: string,
	made: T,
	attempts: readonly Attempt[],
): Promise<boolean> {
	const { memory, itemKey, orderKey, ledger, sequences } = creation;
	const owner = hashOwner(creation);
	const key = resultKey(creation, hash);
	if ((await ledger?.claimKey(key, owner)) === false) return false;
	// In a Retry, the charge is the execution's own.
	const isOwn = memory.getAttempt(itemKey) !== undefined;
	const result = creation.toStoredResult(made);
	const earlier: Attempt = {
		...buildAttempt(creation, { state: 'made', result, positions: sequences.latestLasting(key) }),
		orderReference: attempts.find(({ orderReference }) => orderReference)?.orderReference,
		resultOwner: owner === orderKey ? undefined : owner,
		replayedBy: isOwn ? undefined : 'hash',
	};
	await recordExisting(creation, earlier, true);
	// The code that was shown beside the hash must not work any more.
	await sequences.takeNext(await sequences.read());
	return true;
}

/** @returns undefined if the hash is known to belong to another charge */
async function readEnteredHash<T>(
	creation: LedgerCreation<T>,
	hash: string,
	attempts: readonly Attempt[],
): Promise<T | undefined> {
	const { memory, itemKey } = creation;
	const known = findAttempt(resultKey(creation, hash));
	if (known && !isSamePurchase(creation, known)) return undefined;
	if (known && hasOtherReference(creation, known)) return undefined;
	// A hash that was left in the form may belong to another attempt or item.
	const isOfOther = known && attempts.length > 0 && !attempts.some(({ id }) => id === known.id);
	const wasMadeByOther = isOfOther && known.resultOwner === undefined;
	if (wasMadeByOther || memory.findOtherItem(itemKey, hash)) return undefined;
	const made = await creation.hashCheck?.read(hash);
	return made === undefined || creation.isVoid(made) ? undefined : made;
}

/** Whether n8n's database knows the charge as that of the order. */
async function isHashOfOrder<T>(creation: LedgerCreation<T>, hash: string): Promise<boolean> {
	const { orderKey, ledger } = creation;
	if (orderKey === undefined || !(await ledger?.hasKey(resultKey(creation, hash)))) return false;
	return await isFreeOrOwnHash(creation, hash);
}

function noDoubtForHashError(subject: Subject, hash: string): NotSentError {
	return newNotSentError(
		`${upperFirst(describeHash(subject, hash))} may be the charge of this item, so ${notSentPhrase(subject)}`,
		'No charge of this item is in doubt. If that transaction is its charge, continue with it (Transaction > Get), and leave this item out. To charge the customer once more, remove the hash from Options > Charge in Doubt.',
	);
}

/** A person who enters a hash has found the charge, so the error shows no code that would charge again. */
function unreadableHashError(
	subject: Subject,
	hash: string,
	answer: FailedOutcome,
	isInDoubt: boolean,
): NotSentError {
	const happened = isUnknownToService(answer) ? 'was not found' : 'could not be read';
	const transaction = describeHash(subject, hash);
	if (!isInDoubt) {
		return readFailedError(
			subject,
			answer,
			`${upperFirst(transaction)} in Options > Charge in Doubt ${happened}`,
			`No charge of this customer is in doubt. If that transaction is not the charge of this customer, remove the hash.`,
		);
	}
	return readFailedError(
		subject,
		answer,
		`The customer may already have been charged, but ${transaction} ${happened}`,
		`Check this hash in Options > Charge in Doubt. If it is right, wait a few minutes, then ${RUN_AGAIN}. If the charge is not in the service's dashboard, remove the hash: the next error then shows a code.`,
	);
}

/** A hash may belong to the customer of another chat. */
function describeHash({ isAgentCall }: Subject, hash: string): string {
	return isAgentCall ? 'the entered transaction' : `transaction ${quoteText(hash)}`;
}
