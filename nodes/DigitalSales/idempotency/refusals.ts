import { compact } from 'lodash';
import type { FailedOutcome, ShownOutcome } from '../api';
import { quoteText, RUN_AGAIN } from '../domain';
import { isRetry, type LedgerError } from '../n8n';
import { NotSentError } from '../output';
import { clock, digest, formatDay, formatTime } from '../shared';
import { isOrderKey, type Subject } from './keys';
import type { Attempt } from './memory';

/** An attempt whose outcome is unknown, or whose charge is gone. */
export interface Doubt {
	/** Missing if only n8n's database knows the attempt. */
	attempt?: Attempt;
	/** Another item, order or execution attempted it, for the same customer and cart. */
	isOfOthers?: boolean;
	/** The service does not return the charge any more. */
	isGone?: boolean;
	/** The decision of a person has already allowed an attempt today. */
	isSpent?: boolean;
	/** The decision may be older than the attempt, which may be under way in another process. */
	isTooEarly?: boolean;
}

/** Thrown until the error of a doubt has been built and noted. */
export class InDoubt extends Error {
	constructor(
		readonly key: string,
		readonly doubt: Doubt,
	) {
		super();
	}
}

/** Longer than a request takes. */
export const DECISION_DELAY_MS = 180_000;

/** Claimed by the attempt that a decision allows: one a day for an order, else for a customer's cart. */
export function againKey(key: string, unresolved: string | undefined): string {
	const subject = isOrderKey(key) ? key : (unresolved ?? key);

	return `again ${digest(subject, formatDay(clock.now()))}`;
}

export function inDoubtError(subject: Subject, doubt: Doubt): NotSentError {
	const { kind, isAgentCall, context, memory } = subject;
	const hasOthers = context.getInputData().length > 1 || memory.runNumber() > 0;
	// A model cannot change the Settings.
	const stopsOthers = hasOthers && !isAgentCall && !context.continueOnFail();
	const repeatsOthers = stopsOthers && !isRetry(context) && subject.orderReference === undefined;
	const lines = compact([
		describeDoubt(subject, doubt),
		wayOut(subject, doubt),
		repeatsOthers &&
			'If an earlier execution charged other items of this list, leave them out, because a new execution charges them again.',
		stopsOthers &&
			'For the other items, set On Error to Continue (using error output) in the Settings of this node, and connect its Error output.',
	]);
	const order = doubt.isOfOthers ? doubt.attempt?.orderReference : subject.orderReference;
	const ofOrder = order === undefined ? '' : ` for order "${quoteText(order)}"`;
	const message =
		kind === 'offer'
			? 'The offer may already exist'
			: `The customer may already have been charged${ofOrder}`;

	return newNotSentError(`${message}, so ${notSentPhrase(subject)}`, lines.join('\n'));
}

function describeDoubt(subject: Subject, doubt: Doubt): string {
	const { fingerprint, orderReference } = subject;
	const { attempt, isGone, isSpent, isTooEarly, isOfOthers } = doubt;
	const hasOtherData = attempt ? attempt.fingerprint !== fingerprint : orderReference !== undefined;
	const other =
		hasOtherData && !isOfOthers
			? ' It may have been for another customer, cart or amount; if so, cancel it on your platform first.'
			: '';
	const details = isShown(subject, attempt) ? ` Details: ${attempt?.about}.${other}` : other;
	const when = compact([
		isSpent &&
			' A decision has already allowed one attempt for it today. The next one is possible tomorrow (Brasília time).',
		isTooEarly &&
			` It may still be under way: the decision counts from ${formatTime(clock.now() + DECISION_DELAY_MS)}.`,
	]).join('');
	if (isGone) {
		return `It was charged as ${isShown(subject, attempt) ? `transaction ${hashOf(attempt)}` : 'a transaction'}, which the service does not find now: it was deleted, or belongs to another account.${details}${when}`;
	}

	const what = attempt
		? `An attempt on ${formatTime(attempt.startedAt)} got no usable answer.`
		: 'An earlier attempt is on record, but its result is not: another execution is charging it now, or n8n stopped before the answer came.';

	return what + details + when;
}

/** Numbered, because n8n shows line breaks as blanks. */
export function wayOut(
	{ kind, name, isAgentCall }: Pick<Subject, 'kind' | 'name' | 'isAgentCall'>,
	{ isOfOthers = false }: Doubt,
): string {
	if (isAgentCall) {
		return 'Do not ask for it again, also not in another way: a person has to look for it. What to do is in the log of n8n.';
	}
	if (kind === 'offer') {
		return 'Look for it on your platform in a few minutes. 1. It is there: continue without this item. 2. It is not there: create it in a new execution, with this item alone.';
	}

	return describeCases(quoteText(name, LONGEST_NAME), isOfOthers);
}

const LONGEST_NAME = 255;

function describeCases(name: string, isOfOthers: boolean): string {
	const cases = compact([
		`It is there: Options > Charges in Doubt > Add Decision, Order or Customer ${name}, Hash: its hash; then ${RUN_AGAIN}.`,
		'It is there, but shows no hash: do not charge again; send that PIX from your platform, or ask it for the hash.',
		`It is not there, or it failed or expired: the same decision with an empty Hash; then ${RUN_AGAIN}.`,
		isOfOthers &&
			`It is there, but for another order: decide for that order, and run it again first.`,
	]);

	return [
		'Look for it on your platform in a few minutes.',
		...cases.map((text, index) => `${index + 1}. ${text}`),
	].join('\n');
}

/** A model must not learn how to charge again. */
export function logDoubt(subject: Subject): void {
	const { context, kind, about } = subject;
	context.logger.warn(
		`A ${kind} of an agent has no clear answer (${about}). ${wayOut({ ...subject, isAgentCall: false }, {})}`,
	);
}

/** An order with another cart or amount, or a Retry of a corrected form. */
export function otherDataError(subject: Subject, attempt: Attempt): NotSentError {
	const { orderReference, isAgentCall, kind, about } = subject;
	const isOfOrder = orderReference !== undefined && isOrderKey(attempt.key);
	const existing = isShown(subject, attempt)
		? `The existing ${kind === 'charge' ? 'transaction' : 'offer'} is ${hashOf(attempt)} (${attempt.about}). Asked for now: ${about}.\n`
		: '';
	if (isOfOrder) {
		const order = `Order Reference "${quoteText(orderReference)}"`;
		return newNotSentError(
			`${order} already belongs to a charge with another customer, cart or amount, so ${notSentPhrase(subject)}`,
			// A model would charge again under another reference.
			isAgentCall
				? 'Do not charge again under another reference: a person has to look at the earlier charge.'
				: `${existing}Another order needs its own reference: change it for this item only. If it is the same order with corrected data, cancel its earlier charge in the service first.`,
		);
	}

	const made = kind === 'charge' ? 'This item was already charged' : 'The offer already exists';
	const replace =
		kind === 'charge' ? ' to replace it, cancel it in the service, then use Retry again;' : '';

	return newNotSentError(
		`${made}, so the changed ${kind} was not sent`,
		`${existing}To keep it, set the form back to what it was;${replace} to send the changed ${kind} as well, start a new execution with this item alone.`,
	);
}

/** States both ways out, because a reference may contain the month, so the charge may be last month's. */
export function otherReferenceError(subject: Subject, attempt: Attempt): NotSentError {
	const asked = quoteText(subject.orderReference ?? '');
	const own = quoteText(attempt.orderReference ?? '');

	return newNotSentError(
		`The customer was already charged under Order Reference "${own}", so ${notSentPhrase(subject)} for "${asked}"`,
		`The existing transaction is ${hashOf(attempt)}. If that is this order, set Order Reference back to "${own}", or clear it, and use Retry again. If "${asked}" is another order, charge it in a new execution, with this item alone.`,
	);
}

/** An Order Reference was added to a charge, but another charge has it. */
export function referenceTakenError(subject: Subject, attempt: Attempt): NotSentError {
	const order = quoteText(subject.orderReference ?? '');

	return newNotSentError(
		`Order Reference "${order}" already belongs to another charge, so ${notSentPhrase(subject)}`,
		`The existing transaction of this item is ${hashOf(attempt)}. Correct Order Reference, or clear it, and use Retry again.`,
	);
}

export function repeatedOrderError({ orderReference = '' }: Subject): NotSentError {
	return newNotSentError(
		`Two items of this run have Order Reference "${quoteText(orderReference)}", but differ in customer, cart or amount`,
		'Put what belongs to one order into one cart, or change the reference of this item only: another item whose reference changes would be charged again.',
		'notSent',
	);
}

export function resultReadFailedError(
	subject: Subject,
	attempt: Attempt,
	answer: FailedOutcome,
): NotSentError {
	return newNotSentError(
		`The customer was already charged, but transaction ${hashOf(attempt)} could not be read`,
		`The service ${describeAnswer(answer)}, and ${notSentPhrase(subject)}. Read it with Transaction > Get when the service answers again.`,
		'unknown',
		answer,
	);
}

const DECISION = 'Options > Charges in Doubt';

export function decisionUnreadableError(
	subject: Subject,
	hash: string,
	answer: FailedOutcome,
): NotSentError {
	return newNotSentError(
		`The transaction ${shownHash(subject, hash)} in ${DECISION} could not be read`,
		`The service ${describeAnswer(answer)}, and ${notSentPhrase(subject)}. Check the hash, then ${RUN_AGAIN}.`,
		'unknown',
		answer,
	);
}

export function decisionDiffersError(
	subject: Subject,
	hash: string,
	differences: string[],
): NotSentError {
	return newNotSentError(
		`Transaction ${shownHash(subject, hash)} in ${DECISION} ${differences.join(' and ')}, so ${notSentPhrase(subject)}`,
		`Correct the hash. If the charge of this item is not on your platform, or failed or expired, leave Hash empty. Then ${RUN_AGAIN}.`,
	);
}

export function notRecordedError({ kind }: Subject, { message }: LedgerError): NotSentError {
	return newNotSentError(
		`n8n could not record the ${kind}, so it was not sent`,
		`Reason: ${message}.\nCheck the database of n8n, then ${RUN_AGAIN}.`,
		'notSent',
	);
}

/** An unknown hash may get a 404, another 4xx, or a failure with status 200. */
export function isUnknownToService({ kind }: FailedOutcome): boolean {
	return kind === 'notFound' || kind === 'rejected';
}

/** Nothing of another customer's charge is shown. */
function isShown({ isAgentCall, customer }: Subject, attempt: Attempt | undefined): boolean {
	return !isAgentCall && attempt !== undefined && attempt.customer === customer;
}

function describeAnswer({ status }: FailedOutcome): string {
	return status === undefined ? 'did not answer' : `answered with status ${status}`;
}

/** A hash may belong to the customer of another chat. */
function shownHash({ isAgentCall }: Subject, hash: string): string {
	return isAgentCall ? 'that was entered' : quoteText(hash);
}

function hashOf(attempt: Attempt | undefined): string {
	return String(attempt?.result?.hash);
}

/** With several items or runs, others may be sent. */
function notSentPhrase({ context, memory }: Subject): string {
	const isOnly = context.getInputData().length === 1 && memory.runNumber() === 0;

	return isOnly ? 'nothing was sent' : 'this item was not sent';
}

function newNotSentError(
	message: string,
	advice: string,
	shown: ShownOutcome = 'unknown',
	answer?: FailedOutcome,
): NotSentError {
	return new NotSentError(message, advice, { shown, answer });
}
