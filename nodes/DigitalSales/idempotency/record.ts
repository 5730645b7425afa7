import { compact, difference, pick, reject } from 'lodash';
import { isRetry } from '../n8n';
import { clock } from '../shared';
import { type Attempt, findAttempt, rememberAttempt } from './attempts';
import type { LedgerCreation } from './creation';
import { isResultKey, isSlotKey, resultKey } from './keys';
import { hasOtherReferenceError, referenceTakenError } from './refusals';

export function buildAttempt<T>(
	creation: LedgerCreation<T>,
	outcome: Pick<Attempt, 'state' | 'result' | 'positions'>,
): Attempt {
	const { owner: id, account, isAgentCall } = creation;
	return {
		...{ id, account: account.key, startedAt: clock.now() },
		...pick(creation, ['about', 'orderReference', 'fingerprint', 'typedFingerprint']),
		...pick(creation, ['purchaseFingerprint', 'customerFingerprint']),
		...(isAgentCall && pick(creation, 'agentCall')),
		...outcome,
	};
}

export function recordAttempt<T>(
	creation: LedgerCreation<T>,
	keys: readonly string[],
	attempt: Attempt,
): void {
	const { memory, itemKey, itemIndex, agentCallKey } = creation;
	rememberAttempt(compact([...keys, agentCallKey]), attempt);
	memory.storeAttempt(itemKey, itemIndex, attempt);
}

/**
 * Records an existing result under the keys of this request, too.
 *
 * @throws NotSentError if the result, or the Order Reference, belongs to another charge
 * @throws LedgerError
 */
export async function recordExisting<T>(
	creation: LedgerCreation<T>,
	earlier: Attempt,
	isEntered = false,
): Promise<void> {
	const { context, orderKey, lastingKeys, ledger, sequences } = creation;
	const key = resultKey(creation, earlier.result?.hash);
	const { orderReference = earlier.orderReference } = creation;
	const isFirstReference = earlier.orderReference === undefined;
	const { ownKeys, othersKeys } = await claimNewKeys(creation, earlier, isEntered);
	if (orderKey !== undefined && isFirstReference) {
		if (othersKeys.includes(orderKey)) throw referenceTakenError(creation, earlier);
		const { id, resultOwner } = earlier;
		// From now on, the result belongs to the order.
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
	recordAttempt(creation, [...difference(lastingKeys, othersKeys), key], {
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
	{ lastingKeys, ledger }: LedgerCreation<T>,
	{ id, result }: Attempt,
	isEntered: boolean,
): Promise<{ ownKeys: string[]; othersKeys: string[] }> {
	const newKeys = lastingKeys.filter((key) => findAttempt(key)?.result?.hash !== result?.hash);
	const othersKeys: string[] = [];
	for (const key of newKeys) {
		const isFree = (await ledger?.claimKey(key, id)) ?? true;
		// A person who enters a hash says that the result belongs to these keys.
		if (!isFree && !isEntered) othersKeys.push(key);
	}
	return { ownKeys: difference(newKeys, othersKeys), othersKeys };
}
