import { compact } from 'lodash';
import type { ServiceError } from '../api';
import { isSameReference, quoteText, RUN_AGAIN } from '../domain';
import { isRetry, LedgerError } from '../n8n';
import { NotSentError } from '../output';
import { formatTime } from '../shared';
import type { Subject } from './keys';
import { type Attempt, hashOf } from './memory';

/** An attempt whose outcome is unknown, or whose charge is gone. */
export interface Doubt {
	/** Missing if only n8n's database knows the attempt. */
	attempt?: Attempt;
	/** None of the item's own keys is taken: another item, order or execution attempted it, for the same customer and cart. */
	isOfOthers?: boolean;
	/** The platform does not return the charge any more. */
	isGone?: boolean;
}

const NOT_SENT = 'this item was not sent';
const LOOK = 'Look for it on your platform in a few minutes.';
const OTHER_ITEMS =
	'If an earlier execution charged other items of this list, leave them out, because a new execution charges them again.';

/** @param note why a decision about the doubt does not count */
export function inDoubtError(subject: Subject, doubt: Doubt, note?: string): NotSentError {
	const { context, kind, isAgentCall, orderReference } = subject;
	const order = doubt.isOfOthers ? shownOf(subject, doubt.attempt)?.orderReference : orderReference;
	const ofOrder = order === undefined ? '' : ` for order "${quoteText(order)}"`;
	const message = {
		offer: 'The offer may already exist',
		charge: `The customer may already have been charged${ofOrder}`,
	}[kind];

	const isOfList = context.getInputData().length > 1;
	const chargesOthersAgain = isOfList && orderReference === undefined && !isRetry(context);
	const advice = compact([
		compact([describeDoubt(subject, doubt), note]).join(' '),
		wayOut(subject, doubt.isOfOthers),
		chargesOthersAgain && !isAgentCall && OTHER_ITEMS,
	]).join('\n');

	return new NotSentError(`${message}, so ${NOT_SENT}`, advice, 'unknown');
}

function describeDoubt(subject: Subject, { attempt, isGone, isOfOthers }: Doubt): string {
	const shown = shownOf(subject, attempt);
	const unknown = attempt
		? `An attempt on ${formatTime(attempt.startedAt)} got no usable answer.`
		: 'An earlier attempt is on record, but its result is not: another execution is charging it now, or n8n stopped before the answer came.';
	const gone = `It was charged as ${shown ? `transaction ${hashOf(shown)}` : 'a transaction'}, which the platform does not find now: it was deleted, or belongs to another account.`;
	const mayDiffer = attempt
		? attempt.fingerprint !== subject.fingerprint
		: subject.orderReference !== undefined;

	return compact([
		isGone ? gone : unknown,
		shown && `Details: ${shown.about}.`,
		mayDiffer &&
			!isOfOthers &&
			'It may have been for another customer, cart or amount; if so, cancel it on your platform first.',
	]).join(' ');
}

/** Numbered, because n8n shows line breaks as blanks. */
export function wayOut(subject: Subject, isOfOthers = false): string {
	const { kind, name, isAgentCall } = subject;
	if (isAgentCall) {
		return 'Do not ask for it again, also not in another way: a person has to look for it. What to do is in the log of n8n.';
	}
	if (kind === 'offer') {
		return `${LOOK} 1. It is there: continue without this item. 2. It is not there: create it in a new execution, with this item alone.`;
	}

	const named = name ? quoteText(name, name.length) : 'an Order Reference that you add';
	const cases = compact([
		`It is there: Options > Charges in Doubt > Add Decision, Order or Customer ${named}, Hash: its hash; then ${RUN_AGAIN}.`,
		'It is there, but shows no hash: do not charge again; send that PIX from your platform, or ask it for the hash.',
		`It is not there, or it failed or expired: the same decision with an empty Hash; then ${RUN_AGAIN}.`,
		isOfOthers &&
			'It is there, but for another order: decide for that order, and run it again first.',
	]).map((text, index) => `${index + 1}. ${text}`);

	return [LOOK, ...cases].join('\n');
}

/** A model must not learn how to charge again. */
export function logDoubt(subject: Subject): void {
	const { context, kind, about } = subject;
	const advice = wayOut({ ...subject, isAgentCall: false });
	context.logger.warn(`A ${kind} of an agent has no clear answer (${about}). ${advice}`);
}

/** An order with another customer, cart or amount, or a Retry of a corrected form. */
export function otherDataError(subject: Subject, attempt: Attempt): NotSentError {
	const { orderReference = '', isAgentCall, kind } = subject;
	const isSameOrder =
		orderReference !== '' && isSameReference(orderReference, attempt.orderReference ?? '');
	const describe = ({ about, orderReference: order }: Pick<Subject, 'about' | 'orderReference'>) =>
		isSameOrder || !order ? about : `${about}; Order Reference "${quoteText(order)}"`;
	const shown = shownOf(subject, attempt);
	const existing =
		shown &&
		`The existing ${kind} is ${hashOf(shown)} (${describe(shown)}). Asked for now: ${describe(subject)}.`;

	let message = `This item already has its ${kind}, so the changed ${kind} was not sent`;
	const replace =
		kind === 'charge' ? ' to replace it, cancel it on your platform, then use Retry again;' : '';
	let advice = `To keep it, set the form back to what it was;${replace} to send the changed ${kind} as well, start a new execution with this item alone.`;
	if (isSameOrder) {
		message = `Order Reference "${quoteText(orderReference)}" already belongs to a charge with another customer, cart or amount, so ${NOT_SENT}`;
		// A model would charge again under another reference.
		advice = isAgentCall
			? 'Do not charge again under another reference: a person has to look at the earlier charge.'
			: 'Another order needs its own reference: change it for this item only. If it is the same order with corrected data, cancel its earlier charge on your platform first.';
	}

	return new NotSentError(message, compact([existing, advice]).join('\n'), 'unknown');
}

export function repeatedOrderError({ orderReference = '' }: Subject): NotSentError {
	return new NotSentError(
		`Two items of this run have Order Reference "${quoteText(orderReference)}", but differ in customer, cart or amount`,
		'Put what belongs to one order into one cart, or change the reference of this item only: another item whose reference changes would be charged again.',
	);
}

export function unreadableError(attempt: Attempt, error: ServiceError): NotSentError {
	return new NotSentError(
		`The customer was already charged, but transaction ${hashOf(attempt)} could not be read`,
		`${error.message}, so ${NOT_SENT}. Read it with Transaction > Get when the platform answers again.`,
		'unknown',
		error.answer,
	);
}

/** A LedgerError comes before the send alone, so it becomes one that says so. Others stay as they are. */
export function replaceLedgerError({ kind }: Subject, error: unknown): unknown {
	if (!(error instanceof LedgerError)) return error;

	return new NotSentError(
		`n8n could not record the ${kind}, so it was not sent`,
		`Reason: ${error.message}.\nCheck the database of n8n, then ${RUN_AGAIN}.`,
	);
}

/** Nothing of another customer's charge is shown, and nothing to a model. */
function shownOf(subject: Subject, attempt: Attempt | undefined): Attempt | undefined {
	return !subject.isAgentCall && attempt?.customer === subject.customer ? attempt : undefined;
}
