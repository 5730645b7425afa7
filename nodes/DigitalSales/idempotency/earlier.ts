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
	changedRequestError,
	otherAccountError,
	otherOrderError,
	otherReferenceError,
	unreadableResultError,
	type Unresolved,
} from './refusals';

/** Agents repeat a call within minutes. Customers buy again later. */
const AGENT_CALL_COUNTS_MS = 15 * 60_000;

export interface ExistingResult<T> {
	made: T;
	earlier: Attempt;
}

/** Only one of the three is set. */
export interface EarlierAttempts<T> {
	existing?: ExistingResult<T>;
	unresolved?: Unresolved[];
	voided?: Attempt;
}

/** @throws NotSentError if an earlier attempt blocks this creation, and no code can allow it */
export async function findEarlierAttempts<T>(
	creation: Creation<T>,
	keys: Keys,
): Promise<EarlierAttempts<T>> {
	const unresolved: Unresolved[] = [];
	const voids: Attempt[] = [];
	for (const { earlier, isHere, isSame } of compareAttempts(creation, keys)) {
		// An error shows nothing of another customer's order.
		const mayShow = isSame || isHere || isSameCustomer(creation, earlier);
		const refusal = isHere
			? changedRequestError(creation, earlier)
			: otherOrderError(creation, mayShow ? earlier : undefined);
		const made =
			earlier.state === 'made' &&
			(await readResult(creation, earlier, isSame ? undefined : refusal));
		if (!made) {
			unresolved.push({
				attempt: earlier,
				isSame: isSame || hasSameGoods(creation, earlier),
				about: mayShow ? earlier.about : undefined,
				orderReference: earlier.orderReference,
				keys: keysOfAttempt(creation, keys, earlier),
			});
		} else if (creation.isVoid(made)) voids.push(earlier);
		else if (!isSame) throw refusal;
		else if (hasOtherReference(creation, earlier)) throw otherReferenceError(creation, earlier);
		else {
			const replayedBy = isHere ? replayedHereBy(creation, keys, earlier) : 'key';
			return { existing: { made, earlier: { ...earlier, replayedBy } } };
		}
	}
	if (unresolved.length > 0) return { unresolved };
	return { voided: voids.sort((a, b) => a.startedAt - b.startedAt).at(-1) };
}

/** Only the execution itself knows: another execution may have returned the result since. */
function replayedHereBy(
	{ memory }: KeyedRequest,
	{ itemKey }: Keys,
	{ id }: Attempt,
): Attempt['replayedBy'] {
	const stored = memory.getAttempt(itemKey);
	return stored?.id === id ? stored.replayedBy : undefined;
}

/** A result is never returned for another Order Reference. */
export function hasOtherReference(
	{ orderReference }: KeyedRequest,
	{ orderReference: earlier }: Attempt,
): boolean {
	return (
		orderReference !== undefined && earlier !== undefined && !isSameText(orderReference, earlier)
	);
}

export function hasEarlierAttempt(request: KeyedRequest): boolean {
	return compareAttempts(request).some(({ isSame }) => isSame);
}

export function isAlreadyMade(request: KeyedRequest): boolean {
	const attempts = compareAttempts(request);
	return (
		attempts.length > 0 &&
		attempts.every(
			({ earlier, isSame }) =>
				isSame && earlier.state === 'made' && !hasOtherReference(request, earlier),
		)
	);
}

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
	// The execution stores a copy. The original may have been resolved since.
	const stored = memory.getAttempt(itemKey);
	const original = [...elsewhere, ...compact([ofSlot])].find(({ id }) => id === stored?.id);
	// Only a Retry returns to an earlier slot.
	const here = compact([original ?? stored, isRetry(context) && ofSlot]);
	return [...new Set([...here, ...elsewhere])].map((earlier) => {
		const isHere = here.includes(earlier);
		return { earlier, isHere, isSame: isSameRequest(request, earlier, isHere) };
	});
}

/** The catalog may state another price at a Retry of the same item. */
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

const READS_MAY_LAG_MS = 10 * 60_000;
const READ_AGAIN_AFTER_MS = [1_000, 2_000, 4_000];

/**
 * @param refusal if the attempt was for another request
 * @returns undefined if the service no longer returns the result
 */
async function readResult<T>(
	creation: Creation<T>,
	earlier: Attempt,
	refusal: NotSentError | undefined,
	[pauseMs, ...pauses] = READ_AGAIN_AFTER_MS,
): Promise<T | undefined> {
	const { result = {}, startedAt } = earlier;
	// Another token of the same account can read the transaction.
	const isOwnAccount = earlier.account === creation.account.key;
	if (!isOwnAccount && (refusal ?? creation.kind === 'offer')) throw otherAccountError(creation);
	const isNew = clock.now() - startedAt < READS_MAY_LAG_MS;
	const isLastRead = pauseMs === undefined;
	const made = await creation.readAgain(result).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (!isOwnAccount) throw otherAccountError(creation);
		const { outcome } = error;
		const isLost = isUnknownToService(outcome);
		if (isLost && !(isNew && isLastRead)) return undefined;
		throw refusal ?? unreadableResultError(creation, String(result.hash), outcome, isLost);
	});
	if (made !== undefined || !isNew || isLastRead) return made;
	await cancelableSleep(pauseMs, creation.itemOrder.signal);
	return await readResult(creation, earlier, refusal, pauses);
}

/** An unknown hash may get a 404, another 4xx, or a failure under 200. */
export function isUnknownToService({ kind }: FailedOutcome): boolean {
	return kind === 'notFound' || kind === 'rejected';
}
