import { compact, difference, omitBy, pick, reject, uniq } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import type { NotSentError } from '../output/errors';
import { quoteText } from '../domain/text';
import { isRetry } from '../n8n/retry';
import { clock } from '../shared/clock';
import { digest } from '../shared/digest';
import { type Attempt, findAttempt, forgetKeys, rememberAttempt } from './attempts';
import type { KeyedCreation } from './creation';
import { hasOtherReference, hasSameGoods } from './earlier';
import { isDoubtKey, isResultKey, isSlotKey, resultKey } from './keys';
import { parseHashes, type Positions } from './overrideCodes';
import {
	orderTakenError,
	otherReferenceError,
	unreadableHashError,
	type Unresolved,
	usedHashError,
} from './refusals';

export function buildAttempt<T>(
	creation: KeyedCreation<T>,
	state: Attempt['state'],
	result?: IDataObject,
): Attempt {
	const { owner: id, account, about, orderReference, codes } = creation;
	const { ledgerKeys, lastingKeys } = creation;
	const { fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint } = creation;
	const positions = codes.knownPositions(
		result ? [...lastingKeys, resultKey(creation, result.hash)] : ledgerKeys,
	);
	return {
		...{ id, state, account: account.key, startedAt: clock.now(), result, about, orderReference },
		...{ fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint },
		positions: result ? withoutDoubtKeys(positions) : positions,
	};
}

export function recordAttempt<T>(
	creation: KeyedCreation<T>,
	processKeys: readonly string[],
	attempt: Attempt,
): void {
	const { memory, itemKey, itemIndex, agentCallKey } = creation;
	const { result } = attempt;
	memory.storeAttempt(itemKey, itemIndex, attempt);
	const ofResult = result && resultKey(creation, result.hash);
	rememberAttempt(compact([...processKeys, agentCallKey, ofResult]), attempt);
}

/**
 * Records an existing result under the keys of this request, too.
 *
 * @throws NotSentError if the result, or the Order Reference, belongs to another charge
 * @throws LedgerError
 */
export async function recordExisting<T>(
	creation: KeyedCreation<T>,
	earlier: Attempt,
	isEntered = false,
): Promise<void> {
	const { context, orderKey, lastingKeys, ledger, codes } = creation;
	const { orderReference = earlier.orderReference } = creation;
	const isFirstReference = earlier.orderReference === undefined;
	const { ownKeys, othersKeys } = await claimNewKeys(creation, earlier, isEntered);
	if (orderKey !== undefined && isFirstReference) {
		if (othersKeys.includes(orderKey)) throw orderTakenError(creation, earlier);
		const { id, result, resultOwner } = earlier;
		const key = resultKey(creation, result?.hash);
		// From now on, the result belongs to the order.
		if (resultOwner !== undefined) await ledger?.releaseKeys([key], resultOwner);
		const isFree = (await ledger?.claimKey(key, orderKey)) ?? true;
		if (!isFree) {
			await ledger?.releaseKeys([orderKey], id);
			throw otherReferenceError(creation, earlier);
		}
	}
	// Another process may know a void charge of the order or the item. The result's key outdates copies of the attempt
	// that lack the new keys.
	const usedKeys = isRetry(context) ? ownKeys : reject(ownKeys, isSlotKey);
	const copiedKeys = ownKeys.length > 0 ? Object.keys(earlier.positions).filter(isResultKey) : [];
	const movedKeys = [...usedKeys, ...copiedKeys];
	const positions = {
		...(await codes.readPositions(movedKeys)),
		...pick(earlier.positions, movedKeys),
	};
	// A copy that another process has outdated stays outdated.
	const isMoved = await codes.takeNext(positions);
	recordAttempt(creation, difference(lastingKeys, othersKeys), {
		...earlier,
		orderReference,
		positions: {
			...codes.knownPositions(ownKeys),
			...earlier.positions,
			...(isMoved && codes.knownPositions(movedKeys)),
		},
	});
}

/** Keys by which the process knows the result are already claimed. */
async function claimNewKeys<T>(
	{ lastingKeys, ledger }: KeyedCreation<T>,
	{ id, result }: Attempt,
	isEntered: boolean,
): Promise<{ ownKeys: string[]; othersKeys: string[] }> {
	const newKeys = lastingKeys.filter((key) => findAttempt(key)?.result?.hash !== result?.hash);
	const othersKeys: string[] = [];
	for (const key of newKeys) {
		const isFree = (await ledger?.claimKey(key, id)) ?? findAttempt(key) === undefined;
		// A person who enters a hash says that the result belongs to these keys.
		if (!isFree && !isEntered) othersKeys.push(key);
	}
	return { ownKeys: difference(newKeys, othersKeys), othersKeys };
}

export function listEnteredHashes<T>({
	enteredHash,
	enteredCodes = '',
}: KeyedCreation<T>): string[] {
	return enteredHash ? parseHashes(enteredCodes) : [];
}

interface EnteredHashes<T> {
	/** The charge in doubt. */
	made?: T;
	unreadable?: NotSentError;
	/** Refuses an item that is not in doubt, or a hash that another item has got. */
	used?: NotSentError;
	/** How charges that were read differ from the requested charge. */
	differences: string[];
}

/**
 * Reads the entered hashes. The first that fits ends the doubt about this item.
 *
 * @throws LedgerError
 */
export async function replayEnteredHash<T>(
	creation: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
	isAhead: boolean,
): Promise<EnteredHashes<T>> {
	const { enteredHash, ledgerKeys, ledger } = creation;
	const differences: string[] = [];
	let unreadable: NotSentError | undefined;
	let used: NotSentError | undefined;
	const attempts = findOwnAttempts(creation, unresolved);
	for (const hash of listEnteredHashes(creation)) {
		const isOfOrder = await isKnownOfOrder(creation, hash);
		// The attempt for another order may have made this charge.
		if (!isOfOrder && attempts.some((attempt) => hasOtherReference(creation, attempt))) continue;
		const others = isOfOrder ? [] : attempts;
		const made = await readEnteredHash(creation, hash, others).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			unreadable ??= unreadableHashError(creation, hash, error.outcome);
			return undefined;
		});
		if (made === undefined) continue;
		const differing = enteredHash?.findDifferences(made) ?? [];
		if (differing.length > 0) {
			differences.push(`Transaction ${quoteText(hash)} has ${differing.join(' and ')}.`);
			continue;
		}
		// Only a doubt is ended by a hash. Another item with the same goods must not take it.
		if (unresolved.length === 0) return { used: usedHashError(creation, hash), differences };
		const isFree =
			(await isFreeHash(creation, hash)) &&
			(isAhead || (await recordEnteredHash(creation, hash, made, attempts)));
		if (!isFree) {
			used ??= usedHashError(creation, hash);
			continue;
		}
		// If the order already had this charge, the doubt stays.
		if (isAhead || isOfOrder) return { made, differences };
		const result = creation.toStoredResult(made);
		// Other executions of this process hold the same attempt objects.
		const key = resultKey(creation, hash);
		const keys = [...ledgerKeys, ...attempts.flatMap(({ positions }) => Object.keys(positions))];
		// Another attempt may still be in doubt.
		const doubtKeys = uniq(keys).filter((each) => {
			const holder = findAttempt(each);
			return isDoubtKey(each) && (holder === undefined || attempts.includes(holder));
		});
		for (const attempt of attempts) {
			const known = { ...attempt.positions, ...creation.codes.knownPositions([key]) };
			const positions = withoutDoubtKeys(known);
			const resultOwner = findAttempt(key)?.resultOwner;
			Object.assign(attempt, { state: 'made', result, positions, resultOwner });
		}
		forgetKeys(doubtKeys);
		// A key that stays can only cause a refusal.
		await ledger?.deleteKeys(doubtKeys).catch(() => undefined);
		return { made, differences };
	}
	return { unreadable, used, differences };
}

/** A hash ends one doubt: of this item or, if that is unknown, of this Order Reference or, without any, of its customer. */
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
	const { memory, itemKey, orderKey, ledger, codes } = creation;
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
	await codes.invalidateShownCode();
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
	const isMade = isOfOther && known.resultOwner === undefined;
	if (isMade || memory.findOtherItem(itemKey, hash)) return undefined;
	const made = await creation.enteredHash?.read(hash);
	return made === undefined || creation.isVoid(made) ? undefined : made;
}

/** Whether n8n's database knows the charge as that of the order. */
async function isKnownOfOrder<T>(creation: KeyedCreation<T>, hash: string): Promise<boolean> {
	const { orderKey, ledger } = creation;
	if (orderKey === undefined || !(await ledger?.hasKey(resultKey(creation, hash)))) return false;
	return await isFreeHash(creation, hash);
}

function withoutDoubtKeys(positions: Positions): Positions {
	return omitBy(positions, (_position, key) => isDoubtKey(key));
}
