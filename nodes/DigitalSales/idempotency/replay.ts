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

/** The record of an attempt to make what is requested. */
export function attemptOf<T>(
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

/** Remembers an attempt in the execution and, under these keys, in the process. */
export function remember<T>(
	{ creation, keys }: KeyedCreation<T>,
	under: readonly string[],
	attempt: Attempt,
): void {
	const { memory, itemIndex, account } = creation;
	const { result } = attempt;
	memory.storeAttempt(keys.itemKey, itemIndex, attempt);
	const ofResult = result && resultKey(account, result.hash);
	rememberAttempt(compact([...under, keys.agentCallKey, ofResult]), attempt);
}

/**
 * Returns an existing result. From then on it is known by all keys of this request.
 *
 * @throws NotSentError if it was returned under another Order Reference before a restart
 * @throws LedgerError
 */
export async function replay<T>(
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
	// The order may belong to another customer, although the charge was made in this slot.
	const ofOrder = findAttempt(orderKey) ?? earlier;
	const isOwnOrder = ofOrder.fingerprint === earlier.fingerprint;
	const isFirstReference = earlier.orderReference === undefined;
	remember(keyed, isOwnOrder ? lastingKeys : [keys.slotKey], {
		...earlier,
		orderReference,
		position: isFirstReference ? codes.latestPosition : earlier.position,
	});
	return made;
}

/**
 * Returns the charge whose hash a person has entered, which ends the doubt about it.
 *
 * @returns undefined if no hash was entered that can be the charge in doubt
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
		const earlier = { ...attemptOf(keyed, 'made', result), orderReference };
		await replay(keyed, { made, earlier });
		// The executions that made the attempts know the result, too.
		for (const attempt of attempts) Object.assign(attempt, { state: 'made', result });
		forgetKeys([keys.unresolvedKey]);
		await ledger?.deleteKeys([keys.unresolvedKey]);
		await codes.spendShownCode();
		return made;
	}
	return undefined;
}

/** @returns undefined unless the hash can be that of the charge in doubt, as far as is known */
async function readEnteredHash<T>(
	{ creation, keys, ledger, codes }: KeyedCreation<T>,
	hash: string,
	attempts: readonly Attempt[],
): Promise<T | undefined> {
	const { account, memory, fingerprint } = creation;
	const known = findAttempt(resultKey(account, hash));
	if (known && known.fingerprint !== fingerprint) return undefined;
	if (compact([known, ...attempts]).some((one) => hasOtherReference(creation, one))) {
		return undefined;
	}
	// A hash that stays in the form belongs to an earlier charge, or to another item.
	const isOlder = known && attempts.some(({ startedAt }) => known.startedAt < startedAt);
	if (isOlder || memory.isHashOfOtherItem(keys.itemKey, hash)) return undefined;
	const made = await creation.readAgain({ hash }).catch((error: unknown) => {
		if (error instanceof ServiceError) return undefined;
		throw error;
	});
	if (made === undefined || creation.isVoid(made) || !creation.matchesRequest?.(made)) {
		return undefined;
	}
	// A hash belongs to one order. Without an order it ends one doubt.
	const isUnused = keys.orderKey
		? await ledger?.claimKey(resultKey(account, hash), keys.orderKey)
		: await ledger?.claimKey(enteredHashKey(account, hash), await codes.nextPositionKey());
	return isUnused === false ? undefined : made;
}
