import compact from 'lodash/compact';
import { type FailedOutcome, ServiceError } from '../api/serviceError';
import { isSameText } from '../domain/text';
import { isRetry } from '../n8n/retry';
import type { NotSentError } from '../output/errors';
import { cancelableSleep, clock } from '../shared/clock';
import { type Attempt, findAttempt } from './attempts';
import type { Creation } from './creation';
import { type KeyedRequest, type Keys, makeKeys } from './keys';
import {
	refuseChanged,
	refuseOtherAccount,
	refuseOtherOrder,
	refuseOtherReference,
	refuseUnreadable,
	type Unresolved,
} from './refusals';

/** Agents retry within minutes. A customer who really buys twice usually comes back later. */
const AGENT_CALL_COUNTS_MS = 15 * 60_000;

/** A result, and the attempt that made it. */
export interface ExistingResult<T> {
	made: T;
	earlier: Attempt;
}

/** An existing result; otherwise the unresolved attempts; otherwise the latest void one. */
export interface EarlierAttempts<T> {
	existing?: ExistingResult<T>;
	unresolved?: Unresolved[];
	voided?: Attempt;
}

/**
 * Looks for earlier attempts in the memory of the process and of the execution, and reads what they made.
 *
 * @throws NotSentError if an earlier attempt blocks this one for good
 */
export async function findEarlierAttempts<T>(
	creation: Creation<T>,
	keys: Keys,
): Promise<EarlierAttempts<T>> {
	const unresolved: Unresolved[] = [];
	const voids: Attempt[] = [];
	for (const { earlier, isHere, isSame } of compareAttempts(creation, keys)) {
		const isOwn = isSame || isHere || isSameCustomer(creation, earlier);
		const other = isHere
			? refuseChanged(creation, earlier)
			: refuseOtherOrder(creation, isOwn ? earlier : undefined);
		const made =
			earlier.state === 'made' && (await readResult(creation, earlier, isSame ? undefined : other));
		if (!made) {
			unresolved.push({
				attempt: earlier,
				isSame: isSame || hasSameGoods(creation, earlier),
				// An error shows nothing of another customer's order.
				about: isOwn ? earlier.about : undefined,
				orderReference: earlier.orderReference,
				keys: keysOfAttempt(creation, keys, earlier),
			});
		} else if (creation.isVoid(made)) voids.push(earlier);
		else if (!isSame) throw other;
		else if (hasOtherReference(creation, earlier)) throw refuseOtherReference(creation, earlier);
		else return { existing: { made, earlier: { ...earlier, isReplay: !isHere } } };
	}
	if (unresolved.length > 0) return { unresolved };
	return { voided: voids.sort((a, b) => a.startedAt - b.startedAt).at(-1) };
}

/** A result that was made for one Order Reference is never returned for another. */
export function hasOtherReference(
	{ orderReference }: KeyedRequest,
	{ orderReference: earlier }: Attempt,
): boolean {
	return (
		orderReference !== undefined && earlier !== undefined && !isSameText(orderReference, earlier)
	);
}

/** Whether the process or the execution remembers an attempt with the same data. */
export function hasEarlierAttempt(request: KeyedRequest): boolean {
	return compareAttempts(request).some(({ isSame }) => isSame);
}

/** Whether the process or the execution remembers that it was made, and nothing that blocks it. */
export function isAlreadyMade(request: KeyedRequest): boolean {
	const all = compareAttempts(request);
	return (
		all.length > 0 &&
		all.every(
			({ earlier, isSame }) =>
				isSame && earlier.state === 'made' && !hasOtherReference(request, earlier),
		)
	);
}

/** The keys of a request that an earlier attempt has. */
export function keysOfAttempt(
	request: KeyedRequest,
	{ slotKey, unresolvedKey, orderKey }: Keys,
	earlier: Attempt,
): string[] {
	const isOrder = isSameText(earlier.orderReference ?? '', request.orderReference ?? '');
	const isOfGoods = hasSameGoods(request, earlier);
	return compact([
		isOrder && orderKey,
		isOfGoods && earlier.state === 'unresolved' && unresolvedKey,
		isOfGoods && slotKey,
	]);
}

/** Lists the attempts that are remembered, those of this slot first. */
function compareAttempts(request: KeyedRequest, keys = makeKeys(request)) {
	const { context, memory } = request;
	const { itemKey, slotKey, orderKey, unresolvedKey, agentCallKey } = keys;
	const ofSlot = findAttempt(slotKey);
	const ofCall = findAttempt(agentCallKey);
	const isRecentCall = ofCall && clock.now() - ofCall.startedAt < AGENT_CALL_COUNTS_MS;
	const elsewhere = compact([
		findAttempt(orderKey),
		isRecentCall && ofCall,
		findAttempt(unresolvedKey),
	]);
	// The execution stores a copy. The original in the process may know more by now.
	const stored = memory.getAttempt(itemKey);
	const original = [...elsewhere, ...compact([ofSlot])].find(({ id }) => id === stored?.id);
	// Only a Retry returns to a slot that its own memory lacks.
	const here = compact([original ?? stored, isRetry(context) && ofSlot]);
	return [...new Set([...here, ...elsewhere])].map((earlier) => {
		const isHere = here.includes(earlier);
		return { earlier, isHere, isSame: isSameRequest(request, earlier, isHere) };
	});
}

/** In the slot of the first attempt, a price that came from the catalog is no change. */
function isSameRequest(request: KeyedRequest, earlier: Attempt, isHere: boolean): boolean {
	const { fingerprint, typedFingerprint: typed } = request;
	if (earlier.fingerprint === fingerprint) return true;
	return isHere && typed !== undefined && earlier.typedFingerprint === typed;
}

export function hasSameGoods(request: KeyedRequest, earlier: Attempt): boolean {
	const goods = request.goodsFingerprint ?? request.fingerprint;
	return (earlier.goodsFingerprint ?? earlier.fingerprint) === goods;
}

function isSameCustomer({ customerFingerprint }: KeyedRequest, earlier: Attempt): boolean {
	return customerFingerprint !== undefined && earlier.customerFingerprint === customerFingerprint;
}

/** A charge may be unreadable for so long after it was made. */
const READS_MAY_LAG_MS = 10 * 60_000;
const READ_AGAIN_AFTER_MS = [1_000, 2_000, 4_000];

/**
 * Reads what an attempt made.
 *
 * @param other the refusal if the attempt was for something else
 * @returns undefined if the service no longer returns it
 */
async function readResult<T>(
	creation: Creation<T>,
	earlier: Attempt,
	other: NotSentError | undefined,
	[pauseMs, ...pauses] = READ_AGAIN_AFTER_MS,
): Promise<T | undefined> {
	const { result = {}, startedAt } = earlier;
	// Another token may belong to the same account. Then the transaction can be read.
	const isOwnAccount = earlier.account === creation.account.key;
	if (!isOwnAccount && (other ?? creation.kind === 'offer')) throw refuseOtherAccount(creation);
	const isNew = clock.now() - startedAt < READS_MAY_LAG_MS;
	const made = await creation.readAgain(result).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (!isOwnAccount) throw refuseOtherAccount(creation);
		const { outcome } = error;
		const isLost = isGone(outcome);
		if (isLost && (!isNew || pauseMs !== undefined)) return undefined;
		throw other ?? refuseUnreadable(creation, String(result.hash), outcome, isLost);
	});
	if (made !== undefined || !isNew || pauseMs === undefined) return made;
	await cancelableSleep(pauseMs, creation.itemOrder.signal);
	return await readResult(creation, earlier, other, pauses);
}

/** Whether the service says, in whatever way, that it has no such transaction. */
export function isGone({ kind }: FailedOutcome): boolean {
	return kind === 'notFound' || kind === 'rejected';
}
