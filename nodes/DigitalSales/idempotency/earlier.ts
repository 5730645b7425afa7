import compact from 'lodash/compact';
import { type FailedOutcome, ServiceError } from '../api/serviceError';
import { isSameText } from '../domain/text';
import type { NotSentError } from '../output/errors';
import { clock, cancelableSleep } from '../shared/clock';
import type { Creation } from './creation';
import { isRetry } from '../n8n/retry';
import { identify, type Identifiable, type Identity } from './keys';
import { recall, type Attempt } from './attempts';
import {
	changed,
	otherAccount,
	otherOrder,
	otherReference,
	unreadable,
	type Doubt,
} from './refusals';

/** An agent repeats a call soon; a customer who buys the same again comes later. */
const CALL_COUNTS_MS = 15 * 60_000;

/** What exists, and the attempt that has made it. */
export interface Found<T> {
	made: T;
	earlier: Attempt;
}

/** What this process and this execution know: what exists, else what is in doubt, else what is void. */
export interface Known<T> {
	found?: Found<T>;
	doubts?: Doubt[];
	voided?: Attempt;
}

/**
 * Looks for earlier attempts in the memory of the process and of the execution, and reads what they made.
 *
 * @throws NotSentError if one stands in the way for good
 */
export async function findEarlier<T>(creation: Creation<T>, identity: Identity): Promise<Known<T>> {
	const { here, elsewhere } = attemptsAt(creation, identity);
	const doubts: Doubt[] = [];
	const voids: Attempt[] = [];
	for (const earlier of new Set([...here, ...elsewhere])) {
		const isHere = here.includes(earlier);
		const isSame = isSameCharge(creation, earlier, isHere);
		const isOwn = isSame || isHere || isSameCustomer(creation, earlier);
		const other = isHere
			? changed(creation, earlier)
			: otherOrder(creation, isOwn ? earlier : undefined);
		const made =
			earlier.state === 'made' && (await read(creation, earlier, isSame ? undefined : other));
		if (!made) {
			const { orderReference } = earlier;
			// Another customer's order shows nothing of it.
			const about = isOwn ? earlier.about : undefined;
			const keys = keysOf(creation, identity, earlier);
			// What the execution has stored of an attempt is a copy of what the process knows of it.
			const isTold = doubts.some(
				({ attempt }) =>
					attempt?.startedAt === earlier.startedAt && attempt.fingerprint === earlier.fingerprint,
			);
			if (!isTold) doubts.push({ attempt: earlier, isSame, about, orderReference, keys });
		} else if (creation.isVoid(made)) voids.push(earlier);
		else if (!isSame) throw other;
		else if (hasOtherReference(creation, earlier)) throw otherReference(creation, earlier);
		else return { found: { made, earlier: isHere ? earlier : { ...earlier, isGiven: true } } };
	}
	if (doubts.length > 0) return { doubts };
	return { voided: voids.sort((a, b) => a.startedAt - b.startedAt).at(-1) };
}

/** What is made for one Order Reference is never given for another. */
export function hasOtherReference(
	{ orderReference: asked }: Identifiable,
	{ orderReference: own }: Attempt,
): boolean {
	return asked !== undefined && own !== undefined && !isSameText(asked, own);
}

/** Whether the memory of the process or of the execution has an earlier attempt with the same data. */
export function isKnown(wanted: Identifiable): boolean {
	return known(wanted).some(({ isSame }) => isSame);
}

/** Whether that memory says that it was made, and nothing that stands in the way. */
export function isKnownMade(wanted: Identifiable): boolean {
	const all = known(wanted);
	const isMade = ({ earlier, isSame }: (typeof all)[number]): boolean =>
		isSame && earlier.state === 'made' && !hasOtherReference(wanted, earlier);
	return all.length > 0 && all.every(isMade);
}

function known(wanted: Identifiable) {
	const { here, elsewhere } = attemptsAt(wanted, identify(wanted));
	const as = (isHere: boolean) => (earlier: Attempt) => {
		return { earlier, isSame: isSameCharge(wanted, earlier, isHere) };
	};
	return [...here.map(as(true)), ...elsewhere.map(as(false))];
}

/** A price that came from the catalog is no change in the place of the first attempt. */
function isSameCharge(wanted: Identifiable, earlier: Attempt, isHere: boolean): boolean {
	if (earlier.fingerprint === wanted.fingerprint) return true;
	return isHere && wanted.typed !== undefined && earlier.typed === wanted.typed;
}

function isSameCustomer({ customer }: Identifiable, earlier: Attempt): boolean {
	return customer !== undefined && earlier.customer === customer;
}

/** The keys of what is asked for that an earlier attempt accounts for. */
export function keysOf(
	{ fingerprint, goods = fingerprint, orderReference: asked = '' }: Identifiable,
	{ place, doubt, order }: Identity,
	earlier: Attempt,
): string[] {
	const isSame = earlier.fingerprint === fingerprint;
	const isOfGoods = (earlier.goods ?? earlier.fingerprint) === goods;
	const isOrder = isSameText(earlier.orderReference ?? '', asked);
	return compact([
		isOrder && order,
		// The doubt of what was made is over.
		isSame && earlier.state === 'inDoubt' && doubt,
		isOfGoods && place,
	]);
}

function attemptsAt({ context, memory }: Identifiable, identity: Identity) {
	const { spot, place, order, doubt, call } = identity;
	const ofPlace = recall(place);
	const called = recall(call);
	const isRecent = called && clock.now() - called.startedAt < CALL_COUNTS_MS;
	return {
		// Only a Retry returns to a place that its own memory lacks.
		here: compact([memory.get(spot), ofPlace && isRetry(context) && ofPlace]),
		elsewhere: compact([recall(order), isRecent && called, recall(doubt)]),
	};
}

/** So long after a charge its read may lag behind. */
const MAY_LAG_MS = 10 * 60_000;
const READ_AGAIN_AFTER_MS = [1_000, 2_000, 4_000];

/**
 * Reads what an attempt has made.
 *
 * @param other the refusal if that was something else than this
 * @returns undefined if the service does not return it any more
 */
async function read<T>(
	creation: Creation<T>,
	earlier: Attempt,
	other: NotSentError | undefined,
	[pauseMs, ...pauses] = READ_AGAIN_AFTER_MS,
): Promise<T | undefined> {
	const { result = {}, startedAt } = earlier;
	// Another token may belong to the same account: then the transaction can be read.
	const isOwn = earlier.account === creation.account.key;
	if (!isOwn && (other ?? creation.kind === 'offer')) throw otherAccount(creation);
	const isNew = clock.now() - startedAt < MAY_LAG_MS;
	const made = await creation.again(result).catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		if (!isOwn) throw otherAccount(creation);
		const { outcome } = error;
		const isLost = isGone(outcome);
		if (isLost && (!isNew || pauseMs !== undefined)) return undefined;
		throw other ?? unreadable(creation, String(result.hash), outcome, isLost);
	});
	if (made !== undefined || !isNew || pauseMs === undefined) return made;
	await cancelableSleep(pauseMs, creation.oneByOne.signal);
	return await read(creation, earlier, other, pauses);
}

/** Whether the service says that it has no such transaction, in whatever way. */
function isGone({ kind }: FailedOutcome): boolean {
	return kind === 'notFound' || kind === 'rejected';
}
