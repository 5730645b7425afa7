import { compact, uniq } from 'lodash';
import { ServiceError } from '../api';
import type { NotSentError } from '../output';
import { quoteText } from '../domain';
import { digest } from '../shared';
import { type Attempt, findAttempt, forgetKeys } from './attempts';
import type { KeyedCreation } from './creation';
import { hasOtherReference, hasSameGoods } from './earlier';
import { isDoubtKey, resultKey } from './keys';
import { looksLikeCode, parseHashes } from './overrideCodes';
import { buildAttempt, recordExisting, withoutDoubtKeys } from './record';
import { unreadableHashError, type Unresolved, usedHashError } from './refusals';

export function listEnteredHashes<T>({
	enteredHash,
	enteredCodes = '',
}: KeyedCreation<T>): string[] {
	return enteredHash ? parseHashes(enteredCodes) : [];
}

interface EnteredHashes<T> {
	/** The charge in doubt. */
	made?: T;
	unreadableError?: NotSentError;
	/** For an item that is not in doubt, or the hash of another item. */
	usedError?: NotSentError;
	/** How charges that were read differ from the requested charge. */
	differences: string[];
}

/**
 * Reads the entered hashes. The first that fits ends the doubt about this item.
 *
 * @throws LedgerError
 */
export async function endDoubtByHash<T>(
	creation: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
	isAhead: boolean,
): Promise<EnteredHashes<T>> {
	const { enteredHash, memory } = creation;
	const differences: string[] = [];
	let unreadableError: NotSentError | undefined;
	let usedError: NotSentError | undefined;
	const attempts = findOwnAttempts(creation, unresolved);
	for (const hash of listEnteredHashes(creation)) {
		const key = resultKey(creation, hash);
		const isOfOrder = await isKnownOfOrder(creation, hash);
		// The charge may be that of an attempt for another order.
		if (!isOfOrder && attempts.some((attempt) => hasOtherReference(creation, attempt))) continue;
		const candidates = isOfOrder ? [] : attempts;
		const made = await readEnteredHash(creation, hash, candidates).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			// Somebody may have typed a code without its dash.
			if (unresolved.length === 0 && looksLikeCode(hash)) return undefined;
			unreadableError ??= unreadableHashError(creation, hash, error.outcome, unresolved.length > 0);
			return undefined;
		});
		if (made === undefined) continue;
		const differing = enteredHash?.findDifferences(made) ?? [];
		if (differing.length > 0) {
			differences.push(`Transaction ${quoteText(hash)} has ${differing.join(' and ')}.`);
			continue;
		}
		// The hash is that of an earlier item of this run.
		if (isAhead && memory.willEnd([key])) continue;
		// An item without a doubt must not take the hash of another item with the same goods.
		if (unresolved.length === 0) return { usedError: usedHashError(creation, hash), differences };
		const isFree =
			(await isFreeHash(creation, hash)) &&
			(isAhead || (await recordEnteredHash(creation, hash, made, attempts)));
		if (!isFree) {
			usedError ??= usedHashError(creation, hash);
			continue;
		}
		// If the order already had this charge, the doubt stays.
		const endedKeys = isOfOrder ? [] : unresolved.flatMap(({ keys }) => keys);
		if (isAhead) memory.markEnding([key, ...endedKeys]);
		else if (!isOfOrder) await endDoubts(creation, attempts, made);
		return { made, differences };
	}
	return { unreadableError, usedError, differences };
}

async function endDoubts<T>(
	creation: KeyedCreation<T>,
	attempts: readonly Attempt[],
	made: T,
): Promise<void> {
	const { ledgerKeys, ledger, sequences } = creation;
	const result = creation.toStoredResult(made);
	const key = resultKey(creation, result.hash);
	const resultOwner = findAttempt(key)?.resultOwner;
	const keys = [...ledgerKeys, ...attempts.flatMap(({ positions }) => Object.keys(positions))];
	// Another attempt may still be in doubt.
	const doubtKeys = uniq(keys).filter((each) => {
		const holder = findAttempt(each);
		return isDoubtKey(each) && (holder === undefined || attempts.includes(holder));
	});
	for (const attempt of attempts) {
		const positions = withoutDoubtKeys({ ...attempt.positions, ...sequences.known([key]) });
		// Other executions of this process hold the same object.
		Object.assign(attempt, { state: 'made', result, positions, resultOwner });
	}
	forgetKeys(doubtKeys);
	// A key that stays can only cause a refusal.
	await ledger?.deleteKeys(doubtKeys).catch(() => undefined);
}

/** The attempts whose doubt a hash ends: this item's, else this Order Reference's, else all for the same goods. */
function findOwnAttempts<T>(
	{ memory, itemKey, orderReference }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Attempt[] {
	const same = compact(unresolved.map(({ isSame, attempt }) => isSame && attempt));
	const ofItem = same.filter(({ id }) => id === memory.getAttempt(itemKey)?.id);
	const ofOrder = same.filter((attempt) => attempt.orderReference === orderReference);
	return [ofItem, ofOrder, same].find((attempts) => attempts.length > 0) ?? [];
}

/** A hash belongs to one order or, without an Order Reference, to one item of an execution. */
function hashOwner<T>({ orderKey, slotKeys }: KeyedCreation<T>): string {
	return orderKey ?? digest(...slotKeys);
}

async function isFreeHash<T>(creation: KeyedCreation<T>, hash: string): Promise<boolean> {
	const key = resultKey(creation, hash);
	const { ledger } = creation;
	if (!(await ledger?.hasKey(key))) return true;
	return (await ledger?.claimKey(key, hashOwner(creation))) === true;
}

/** @returns false if another request has recorded the hash meanwhile */
async function recordEnteredHash<T>(
	creation: KeyedCreation<T>,
	hash: string,
	made: T,
	attempts: readonly Attempt[],
): Promise<boolean> {
	const { memory, itemKey, orderKey, ledger, sequences } = creation;
	const owner = hashOwner(creation);
	if ((await ledger?.claimKey(resultKey(creation, hash), owner)) === false) return false;
	// In a Retry, the charge is the execution's own.
	const isOwn = memory.getAttempt(itemKey) !== undefined;
	const earlier: Attempt = {
		...buildAttempt(creation, 'made', creation.toStoredResult(made)),
		orderReference: attempts.find(({ orderReference }) => orderReference)?.orderReference,
		resultOwner: owner === orderKey ? undefined : owner,
		replayedBy: isOwn ? undefined : 'hash',
	};
	await recordExisting(creation, earlier, true);
	// The code that was shown beside the hash must not work any more.
	await sequences.takeNext(await sequences.read());
	return true;
}

/** @returns undefined if the hash cannot belong to the charge in doubt, as far as is known */
async function readEnteredHash<T>(
	creation: KeyedCreation<T>,
	hash: string,
	attempts: readonly Attempt[],
): Promise<T | undefined> {
	const { memory, itemKey } = creation;
	const known = findAttempt(resultKey(creation, hash));
	if (known && !hasSameGoods(creation, known)) return undefined;
	if (known && hasOtherReference(creation, known)) return undefined;
	// A hash that was left in the form may belong to another attempt or item.
	const isOfOther = known && attempts.length > 0 && !attempts.some(({ id }) => id === known.id);
	const wasMadeByOther = isOfOther && known.resultOwner === undefined;
	if (wasMadeByOther || memory.findOtherItem(itemKey, hash)) return undefined;
	const made = await creation.enteredHash?.read(hash);
	return made === undefined || creation.isVoid(made) ? undefined : made;
}

/** Whether n8n's database knows the charge as that of the order. */
async function isKnownOfOrder<T>(creation: KeyedCreation<T>, hash: string): Promise<boolean> {
	const { orderKey, ledger } = creation;
	if (orderKey === undefined || !(await ledger?.hasKey(resultKey(creation, hash)))) return false;
	return await isFreeHash(creation, hash);
}
