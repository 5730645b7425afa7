import compact from 'lodash/compact';
import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from '../api/serviceError';
import { clock } from '../shared/clock';
import { type Attempt, findAttempt, forgetKeys, rememberAttempt } from './attempts';
import type { KeyedCreation } from './creation';
import { type ExistingResult, hasOtherReference } from './earlier';
import { enteredHashKey, resultKey } from './keys';
import { parseHashes } from './overrideCodes';
import { refuseOtherReference, type Unresolved } from './refusals';

export function buildAttempt<T>(
	{ creation, codes }: KeyedCreation<T>,
	state: Attempt['state'],
	result?: IDataObject,
): Attempt {
	const { account, fingerprint, about, orderReference } = creation;
	const { typedFingerprint, goodsFingerprint, customerFingerprint } = creation;
	return {
		...{ state, account: account.key, startedAt: clock.now(), result, about, orderReference },
		...{ fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint },
		position: codes.latestPosition,
	};
}

/** Records an attempt in the execution and, under the given keys, in the process. */
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
 * Returns an existing result, and records it under the keys of this request, too.
 *
 * @throws NotSentError if the result was returned under another Order Reference before a restart
 * @throws LedgerError
 */
export async function replayExisting<T>(
	keyed: KeyedCreation<T>,
	{ made, earlier }: ExistingResult<T>,
): Promise<T> {
	const { creation, keys, ledger, owner, codes } = keyed;
	const { orderKey, lastingKeys } = keys;
	const { orderReference = earlier.orderReference } = creation;
	if (orderKey !== undefined && earlier.orderReference === undefined) {
		const key = resultKey(creation.account, earlier.result?.hash);
		const isFree = (await ledger?.claimKey(key, orderKey)) ?? true;
		if (!isFree) throw refuseOtherReference(creation, earlier);
	}
	for (const key of lastingKeys) await ledger?.claimKey(key, owner);
	// A result of this slot must not replace the attempt of another customer under the order key.
	const withOrder = findAttempt(orderKey) ?? earlier;
	const isOwnOrder = withOrder.fingerprint === earlier.fingerprint;
	const isFirstReference = earlier.orderReference === undefined;
	recordAttempt(keyed, isOwnOrder ? lastingKeys : [keys.slotKey], {
		...earlier,
		orderReference,
		position: isFirstReference ? codes.latestPosition : earlier.position,
	});
	return made;
}

/**
 * Returns the charge whose hash a person entered, and resolves the attempts that may have made it.
 *
 * @returns undefined if no entered hash can be the unresolved charge
 * @throws LedgerError
 */
export async function replayEnteredHash<T>(
	keyed: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<T | undefined> {
	const { creation, keys, ledger, codes } = keyed;
	if (!creation.matchesRequest) return undefined;
	const attempts = compact(unresolved.map(({ isSame, attempt }) => isSame && attempt));
	for (const hash of parseHashes(creation.enteredCodes ?? '')) {
		const made = await readEnteredHash(keyed, hash, attempts);
		if (made === undefined) continue;
		const result = creation.toStoredResult(made);
		const orderReference = compact(attempts.map((attempt) => attempt.orderReference))[0];
		const earlier = { ...buildAttempt(keyed, 'made', result), orderReference };
		await replayExisting(keyed, { made, earlier });
		// Other executions of this process hold the same attempt objects.
		for (const attempt of attempts) Object.assign(attempt, { state: 'made', result });
		forgetKeys([keys.unresolvedKey]);
		await ledger?.deleteKeys([keys.unresolvedKey]);
		await codes.spendShownCode();
		return made;
	}
	return undefined;
}

/** @returns undefined if the hash cannot be the unresolved charge */
async function readEnteredHash<T>(
	{ creation, keys, ledger, codes }: KeyedCreation<T>,
	hash: string,
	attempts: readonly Attempt[],
): Promise<T | undefined> {
	const { account, memory, fingerprint } = creation;
	const known = findAttempt(resultKey(account, hash));
	if (known && known.fingerprint !== fingerprint) return undefined;
	if (compact([known, ...attempts]).some((attempt) => hasOtherReference(creation, attempt))) {
		return undefined;
	}
	// A hash that was left in the form may be that of an earlier charge or of another item.
	const isOlder = known && attempts.some(({ startedAt }) => known.startedAt < startedAt);
	if (isOlder || memory.isHashOfOtherItem(keys.itemKey, hash)) return undefined;
	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (error instanceof ServiceError) return undefined;
		throw error;
	});
	if (made === undefined || creation.isVoid(made) || !creation.matchesRequest?.(made)) {
		return undefined;
	}
	// A hash belongs to one order. Without an order, it resolves one charge.
	const isUnused = keys.orderKey
		? await ledger?.claimKey(resultKey(account, hash), keys.orderKey)
		: await ledger?.claimKey(enteredHashKey(account, hash), await codes.nextPositionKey());
	return isUnused === false ? undefined : made;
}
