import { compact, difference, omitBy, pick, reject } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { isRetry } from '../n8n';
import { clock } from '../shared';
import { type Attempt, findAttempt, rememberAttempt } from './attempts';
import type { KeyedCreation } from './creation';
import { isDoubtKey, isResultKey, isSlotKey, resultKey } from './keys';
import type { Positions } from './positions';
import { hasOtherReferenceError, referenceTakenError } from './refusals';

export function buildAttempt<T>(
	creation: KeyedCreation<T>,
	state: Attempt['state'],
	result?: IDataObject,
): Attempt {
	const { owner: id, account, about, orderReference, sequences } = creation;
	const { ledgerKeys, lastingKeys } = creation;
	const { fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint } = creation;
	const agentCall = creation.isAgentCall ? creation.agentCall : undefined;
	const positions = sequences.latestKnown(
		result ? [...lastingKeys, resultKey(creation, result.hash)] : ledgerKeys,
	);
	return {
		...{ id, state, account: account.key, startedAt: clock.now(), result, about, orderReference },
		...{ fingerprint, typedFingerprint, goodsFingerprint, customerFingerprint, agentCall },
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
	const { context, orderKey, lastingKeys, ledger, sequences } = creation;
	const { orderReference = earlier.orderReference } = creation;
	const isFirstReference = earlier.orderReference === undefined;
	const { ownKeys, othersKeys } = await claimNewKeys(creation, earlier, isEntered);
	if (orderKey !== undefined && isFirstReference) {
		if (othersKeys.includes(orderKey)) throw referenceTakenError(creation, earlier);
		const { id, result, resultOwner } = earlier;
		// From now on, the result belongs to the order.
		const key = resultKey(creation, result?.hash);
		if (resultOwner !== undefined) await ledger?.releaseKeys([key], resultOwner);
		const isFree = (await ledger?.claimKey(key, orderKey)) ?? true;
		if (!isFree) {
			await ledger?.releaseKeys([orderKey], id);
			throw hasOtherReferenceError(creation, earlier);
		}
	}
	// Another process may know a void charge of these keys, or this charge without its new keys. Taking the next positions
	// stops that process from replacing either. It can know slots only in a Retry.
	const keysKnownElsewhere = isRetry(context) ? ownKeys : reject(ownKeys, isSlotKey);
	const resultKeys = ownKeys.length > 0 ? Object.keys(earlier.positions).filter(isResultKey) : [];
	const advancedKeys = [...keysKnownElsewhere, ...resultKeys];
	// If another process did this first, `takeNext` fails, and this process cannot replace the charge if it becomes void.
	const isAdvanced = await sequences.takeNext({
		...(await sequences.read(advancedKeys)),
		...pick(earlier.positions, advancedKeys),
	});
	recordAttempt(creation, difference(lastingKeys, othersKeys), {
		...earlier,
		orderReference,
		positions: {
			...sequences.latestKnown(ownKeys),
			...earlier.positions,
			...(isAdvanced && sequences.latestKnown(advancedKeys)),
		},
	});
}

/** The keys by which this process knows the result are already claimed. */
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

export function withoutDoubtKeys(positions: Positions): Positions {
	return omitBy(positions, (_position, key) => isDoubtKey(key));
}
