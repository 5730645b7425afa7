import { compact, difference, intersection, uniqBy } from 'lodash';
import { ServiceError } from '../api';
import { isSameText } from '../domain';
import type { NotSentError } from '../output';
import { cancelableSleep, clock } from '../shared';
import { type Attempt, findAttempt } from './attempts';
import type { LedgerCreation } from './creation';
import { purchaseOf, type Keys, type KeySource } from './keys';
import {
	changedRequestError,
	isUnknownToService,
	otherAccountError,
	orderHasOtherDataError,
	hasOtherReferenceError,
	resultReadFailedError,
	type Doubt,
} from './refusals';

/** Agents repeat a call within minutes. Customers buy again later. */
const RECENT_AGENT_CALL_MS = 15 * 60_000;

/** If there is an existing result, `doubts` is empty. The latest void result comes last. */
export interface EarlierAttempts<T> {
	existing?: { made: T; earlier: Attempt };
	doubts: Doubt[];
	voids: Attempt[];
}

/** @throws NotSentError if an earlier attempt blocks this creation, and no code can allow it */
export async function findEarlierAttempts<T>(
	creation: LedgerCreation<T>,
): Promise<EarlierAttempts<T>> {
	const doubts: Doubt[] = [];
	const voids: Attempt[] = [];
	for (const { earlier, isHere, isSameRequest } of compareAttempts(creation)) {
		// An error shows nothing of another customer's order.
		const mayShow = isSameRequest || isHere || isSameCustomer(creation, earlier);
		const refusal = isHere
			? changedRequestError(creation, earlier)
			: orderHasOtherDataError(creation, mayShow ? earlier : undefined);
		const made =
			earlier.state === 'made' &&
			(await readResult(creation, earlier, {
				unreadable: isSameRequest ? undefined : refusal,
				otherAccount: mayShow ? otherAccountError(creation, earlier) : refusal,
			}));
		if (!made) {
			doubts.push({
				attempt: earlier,
				isSame: isSameRequest || isSamePurchase(creation, earlier),
				about: mayShow ? earlier.about : undefined,
				orderReference: earlier.orderReference,
				keys: keysOfAttempt(creation, earlier),
			});
		} else if (creation.isVoid(made)) voids.push(earlier);
		else if (!isSameRequest) throw refusal;
		else if (hasOtherReference(creation, earlier)) throw hasOtherReferenceError(creation, earlier);
		else {
			const existing = { made, earlier: markReplayed(creation, earlier, isHere) };
			return { existing, doubts: [], voids };
		}
	}
	return { doubts, voids: voids.sort((a, b) => a.startedAt - b.startedAt) };
}

/** A result is never returned for another Order Reference. */
export function hasOtherReference(
	{ orderReference }: KeySource,
	{ orderReference: earlier }: Attempt,
): boolean {
	return (
		orderReference !== undefined && earlier !== undefined && !isSameText(orderReference, earlier)
	);
}

export function hasAttemptOfSameRequest(request: KeySource & Keys): boolean {
	return compareAttempts(request).some(({ isSameRequest }) => isSameRequest);
}

/** The result for this request, if no other attempt is known. */
export function findKnownResult(request: KeySource & Keys): Attempt | undefined {
	const attempts = compareAttempts(request);
	const isResult = attempts.every(
		({ earlier, isSameRequest }) =>
			isSameRequest && earlier.state === 'made' && !hasOtherReference(request, earlier),
	);
	const [first, ...others] = uniqBy(attempts, ({ earlier }) => earlier.result?.hash);
	return isResult && first && others.length === 0
		? markReplayed(request, first.earlier, first.isHere)
		: undefined;
}

/**
 * Takes `replayedBy` from this execution's copy, because another execution may have changed it in the shared attempt.
 * After a crash the copy is lost, and the slot's attempt counts.
 */
function markReplayed(
	{ memory, itemKey }: KeySource & Keys,
	earlier: Attempt,
	isHere: boolean,
): Attempt {
	const stored = memory.getAttempt(itemKey);
	const { replayedBy: replayedHereBy } = stored?.id === earlier.id ? stored : earlier;
	return { ...earlier, replayedBy: isHere ? replayedHereBy : 'key' };
}

export function keysOfAttempt({ ledgerKeys }: Keys, { positions }: Attempt): string[] {
	return intersection(ledgerKeys, Object.keys(positions));
}

export function buildDoubts(
	{ orderKey, slotKeys, returnsToSlot, orderReference }: Keys & KeySource,
	othersKeys: readonly string[],
): Doubt[] {
	const doubts: Doubt[] = [];
	const ignored = returnsToSlot ? [] : slotKeys;
	const ofItem = difference(othersKeys, compact([orderKey, ...ignored]));
	if (ofItem.length > 0) doubts.push({ isSame: true, keys: ofItem });
	if (orderKey !== undefined && othersKeys.includes(orderKey)) {
		doubts.push({ isSame: false, orderReference, keys: [orderKey] });
	}
	return doubts;
}

interface ComparedAttempt {
	earlier: Attempt;
	/** Of this execution, or of the execution that it retries. */
	isHere: boolean;
	isSameRequest: boolean;
}

function compareAttempts(request: KeySource & Keys): ComparedAttempt[] {
	const { memory, fingerprint, typedFingerprint: typed, isAgentCall, agentCall } = request;
	const { itemKey, slotKeys, returnsToSlot, ledgerKeys, agentCallKey } = request;
	// The execution stores a copy. The original may have been resolved since.
	const stored = memory.getAttempt(itemKey);
	const ofSlots = compact(slotKeys.map((key) => findAttempt(key)));
	const ofCall = findAttempt(agentCallKey);
	const isRecentCall = ofCall && clock.now() - ofCall.startedAt < RECENT_AGENT_CALL_MS;
	const elsewhere = compact([
		isRecentCall && ofCall,
		...difference(ledgerKeys, slotKeys).map((key) => findAttempt(key)),
	]);
	const original = [...elsewhere, ...ofSlots].find(({ id }) => id === stored?.id);
	const here = compact([original ?? stored, ...(returnsToSlot ? ofSlots : [])]);
	return [...new Set([...here, ...elsewhere])].map((earlier) => {
		const isHere = here.includes(earlier);
		// The catalog may state another price now.
		const isTypedSame = typed !== undefined && earlier.typedFingerprint === typed;
		const isSameCharge = earlier.fingerprint === fingerprint || isTypedSame;
		// A model may have guessed the Order Reference of another customer.
		const isSameRequest = isSameCharge && (!isAgentCall || earlier.agentCall === agentCall);
		return { earlier, isHere, isSameRequest };
	});
}

export function isSamePurchase(request: KeySource, earlier: Attempt): boolean {
	return purchaseOf(earlier) === purchaseOf(request);
}

function isSameCustomer({ customerFingerprint }: KeySource, earlier: Attempt): boolean {
	return customerFingerprint !== undefined && earlier.customerFingerprint === customerFingerprint;
}

const NEW_RESULT_MS = 10 * 60_000;
const READ_AGAIN_AFTER_MS = [1_000, 2_000, 4_000];

/**
 * @param refusals `unreadable` is missing for the same request
 * @returns undefined if the service no longer returns the result
 */
async function readResult<T>(
	creation: LedgerCreation<T>,
	earlier: Attempt,
	refusals: { unreadable?: NotSentError; otherAccount: NotSentError },
): Promise<T | undefined> {
	const isOwnAccount = earlier.account === creation.account.key;
	// An offer cannot be read.
	if (!isOwnAccount && creation.kind === 'offer') throw refusals.otherAccount;
	for (let reads = 0; ; reads++) {
		const { result = {}, startedAt } = earlier;
		const isNew = clock.now() - startedAt < NEW_RESULT_MS;
		const pauseMs = READ_AGAIN_AFTER_MS[reads];
		const readsAgain = isNew && pauseMs !== undefined;
		const made = await creation.readAgain(result).catch((error: unknown) => {
			if (!(error instanceof ServiceError)) throw error;
			const isUnknown = isUnknownToService(error.outcome);
			// Another token of the same account could read the transaction.
			if (isUnknown && !isOwnAccount) throw refusals.otherAccount;
			// An old unknown result is gone. A new one is read again.
			if (isUnknown && (readsAgain || !isNew)) return undefined;
			throw (
				refusals.unreadable ?? resultReadFailedError(creation, String(result.hash), error.outcome)
			);
		});
		if (made !== undefined || !readsAgain) return made;
		await cancelableSleep(pauseMs, creation.itemOrder.signal);
	}
}
