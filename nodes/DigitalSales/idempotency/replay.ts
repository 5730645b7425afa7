import compact from 'lodash/compact';
import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import type { NotSentError } from '../output/errors';
import { quoteText } from '../domain/text';
import { clock } from '../shared/clock';
import { type Attempt, findAttempt, forgetKeys, rememberAttempt } from './attempts';
import type { KeyedCreation } from './creation';
import {
	type ExistingResult,
	hasOtherReference,
	hasSameGoods,
	isUnknownToService,
} from './earlier';
import { resultKey } from './keys';
import { parseHashes } from './overrideCodes';
import { otherReferenceError, unreadableHashError, type Unresolved } from './refusals';

export function buildAttempt<T>(
	{ creation, codes, owner: id }: KeyedCreation<T>,
	state: Attempt['state'],
	result?: IDataObject,
): Attempt {
	const { account, fingerprint, about, orderReference } = creation;
	const { typedFingerprint, goodsFingerprint, customerFingerprint } = creation;
	return {
		...{ id, state, account: account.key, startedAt: clock.now(), result, about, orderReference },
		...{ fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint },
		position: codes.latestPosition,
	};
}

export function recordAttempt<T>(
	{ creation, keys }: KeyedCreation<T>,
	processKeys: readonly string[],
	attempt: Attempt,
): void {
	const { memory, itemIndex, account } = creation;
	const { result } = attempt;
	memory.storeAttempt(keys.itemKey, itemIndex, attempt);
	const ofResult = result && resultKey(account, result.hash);
	rememberAttempt(compact([...processKeys, keys.agentCallKey, ofResult]), attempt);
}

/**
 * Records an existing result under the keys of this request, too.
 *
 * @throws NotSentError if the result belongs to another Order Reference
 * @throws LedgerError
 */
export async function replayExisting<T>(
	keyed: KeyedCreation<T>,
	{ made, earlier }: ExistingResult<T>,
): Promise<T> {
	const { creation, keys, ledger, owner, codes } = keyed;
	const { orderKey, lastingKeys } = keys;
	const { orderReference = earlier.orderReference } = creation;
	const isFirstReference = earlier.orderReference === undefined;
	if (orderKey !== undefined && isFirstReference) {
		const { result, doubtKey } = earlier;
		const key = resultKey(creation.account, result?.hash);
		// The hash no longer belongs to a doubt without an order.
		if (doubtKey !== undefined) await ledger?.releaseKeys([key], doubtKey);
		const isFree = (await ledger?.claimKey(key, orderKey)) ?? true;
		if (!isFree) throw otherReferenceError(creation, earlier);
		// Another process that remembers a void charge of this order must not replace it again.
		await codes.spendShownCode();
	}
	for (const key of lastingKeys) {
		// If the process knows the result by a key, n8n's database has the key.
		const isClaimed = findAttempt(key)?.result?.hash === earlier.result?.hash;
		if (!isClaimed) await ledger?.claimKey(key, owner);
	}
	// A result of this slot must not replace another request's attempt under the order key.
	const withOrder = findAttempt(orderKey) ?? earlier;
	const isOwnOrder = withOrder.fingerprint === earlier.fingerprint;
	recordAttempt(keyed, isOwnOrder ? lastingKeys : [keys.slotKey], {
		...earlier,
		orderReference,
		position: isFirstReference ? codes.latestPosition : earlier.position,
	});
	return made;
}

/** What became of the hashes that a person entered. */
interface EnteredHashes<T> {
	/** The charge in doubt. */
	made?: T;
	/** Why a hash could not be read. */
	unreadable?: NotSentError;
	/** How charges that were read differ from the requested charge. */
	differences: string[];
}

/**
 * Resolves the attempts that may have made the charge whose hash a person entered.
 *
 * @throws LedgerError
 */
export async function replayEnteredHash<T>(
	keyed: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<EnteredHashes<T>> {
	const { creation, keys, ledger, codes } = keyed;
	const { findDifferences } = creation;
	const differences: string[] = [];
	let unreadable: NotSentError | undefined;
	if (!findDifferences) return { differences };
	const attempts = compact(unresolved.map(({ isSame, attempt }) => isSame && attempt));
	for (const hash of parseHashes(creation.enteredCodes ?? '')) {
		const isOfOrder = await isKnownOfOrder(keyed, hash);
		// An unknown charge may be that of the other order.
		if (!isOfOrder && attempts.some((one) => hasOtherReference(creation, one))) continue;
		const made = await readEnteredHash(keyed, hash, attempts).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			const { outcome } = error;
			const isUnknown = isUnknownToService(outcome);
			unreadable ??= unreadableHashError(creation, hash, outcome, isUnknown);
			return undefined;
		});
		if (made === undefined) continue;
		const differing = findDifferences(made);
		if (differing.length > 0) {
			differences.push(`Transaction ${quoteText(hash)} has another ${differing.join(' and ')}.`);
			continue;
		}
		// A hash belongs to one order, or ends one doubt without an order.
		const owner = keys.orderKey ?? (await codes.nextPositionKey());
		const key = resultKey(creation.account, hash);
		if ((await ledger?.claimKey(key, owner)) === false) continue;
		const doubtKey = owner === keys.orderKey ? undefined : owner;
		const result = creation.toStoredResult(made);
		const orderReference = compact(attempts.map((attempt) => attempt.orderReference))[0];
		// A Retry ends the doubt of its own execution.
		const isOwn = creation.memory.getAttempt(keys.itemKey) !== undefined;
		const replayedBy = isOwn ? undefined : ('hash' as const);
		const earlier = {
			...buildAttempt(keyed, 'made', result),
			orderReference,
			doubtKey,
			replayedBy,
		};
		await replayExisting(keyed, { made, earlier });
		await codes.spendShownCode();
		if (isOfOrder) return { made, differences };
		// Other executions of this process hold the same attempt objects.
		for (const attempt of attempts) Object.assign(attempt, { state: 'made', result });
		forgetKeys([keys.unresolvedKey]);
		// A key that stays can only cause a refusal.
		await ledger?.deleteKeys([keys.unresolvedKey]).catch(() => undefined);
		return { made, differences };
	}
	return { unreadable, differences };
}

/** @returns undefined if the hash cannot belong to the charge in doubt, as far as is known */
async function readEnteredHash<T>(
	{ creation, keys }: KeyedCreation<T>,
	hash: string,
	attempts: readonly Attempt[],
): Promise<T | undefined> {
	const { account, memory } = creation;
	const known = findAttempt(resultKey(account, hash));
	if (known && !hasSameGoods(creation, known)) return undefined;
	if (known && hasOtherReference(creation, known)) return undefined;
	// A hash that was left in the form may belong to an earlier charge or another item.
	const isOlder = known && attempts.some(({ startedAt }) => known.startedAt < startedAt);
	if (isOlder || memory.findOtherItem(keys.itemKey, hash)) return undefined;
	const made = await creation.readAgain({ hash });
	return creation.isVoid(made) ? undefined : made;
}

/** Whether n8n's database knows the charge as that of the order. Then its hash ends no doubt about another charge. */
async function isKnownOfOrder<T>(
	{ creation, keys, ledger }: KeyedCreation<T>,
	hash: string,
): Promise<boolean> {
	const { orderKey } = keys;
	const key = resultKey(creation.account, hash);
	if (orderKey === undefined || !(await ledger?.hasKey(key))) return false;
	return (await ledger?.claimKey(key, orderKey)) === true;
}
