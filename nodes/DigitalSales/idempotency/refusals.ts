import { compact } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { FailedOutcome, ShownOutcome } from '../api';
import { quoteText, RUN_AGAIN } from '../domain';
import { isRetry } from '../n8n';
import { NotSentError } from '../output';
import { formatTime } from '../shared';
import type { Attempt } from './attempts';
import type { Subject } from './creation';
import { describeRunItem } from './executionMemory';
import type { Keys } from './keys';
import { parseHashes, splitEntered } from './enteredText';

/** An attempt whose outcome is unknown, or whose result is gone. */
export interface Doubt {
	/** Missing if only n8n's database knows the attempt. */
	attempt?: Attempt;
	/** For the same purchase or offer. */
	isSame: boolean;
	/** Missing if it is unknown, or of another customer. */
	about?: string;
	orderReference?: string;
	/** The keys that attempt and request share. */
	keys: string[];
}

const ENTERED_RULES = {
	offer:
		'A code works once, for the offer that its error described, until the end of the next day (UTC).',
	charge:
		'A code works once, for the charge that its error described, until the end of the next day (UTC), or until this customer is charged for the same items. A hash works once, for a charge of this customer, amount and order. If you found the charge for this order, and it has not failed or expired, do not enter the code. If another run has returned that charge, leave this item out. Otherwise set price, customer and Order Reference back to what they were, and enter the hash; or continue with that charge (Transaction > Get), and leave this item out.',
};

/** @param code undefined if n8n's database did not answer */
export function inDoubtError(
	subject: Subject & Keys,
	doubts: readonly Doubt[],
	code: string | undefined,
	differences: string[],
): NotSentError {
	const { context, isAgentCall } = subject;
	const [message = ''] = doubts.map((entry) => describePossibleCharge(subject, entry));
	const reasons = doubts.map((entry, index) => {
		const also = index === 0 ? '' : `Also: ${describePossibleCharge(subject, entry)}. `;
		return `${also}${describeAttempt(context, entry)} ${describeDetails(subject, entry)}`;
	});
	const hasOthers = context.getInputData().length > 1 || subject.memory.runNumber() > 0;
	// A model cannot change the Settings.
	const stopsOthers = hasOthers && !isAgentCall && !context.continueOnFail();
	const repeatsOthers = stopsOthers && !isRetry(context) && subject.orderReference === undefined;
	const lines = compact([
		...reasons,
		// A hash may belong to another customer.
		...(isAgentCall ? [] : [...differences, describeEntered(subject)]),
		describeWayOut(subject, code),
		repeatsOthers &&
			'If an earlier execution created other items of this list for the same purchase, leave them out, because they would be created again.',
		stopsOthers &&
			'For the other items, set On Error to Continue (using error output) in the Settings of this node, and connect its Error output.',
	]);
	return newNotSentError(message, lines.join('\n'));
}

function describePossibleCharge(subject: Subject, { isSame, orderReference }: Doubt): string {
	const item = isSame ? '' : ' for this item';
	const soNotSent = `so ${notSentPhrase(subject)}`;
	if (subject.kind === 'offer') {
		return `${isSame ? 'The' : 'Another'} offer${item} may already exist, ${soNotSent}`;
	}
	const order = orderReference === undefined ? item : ` for order "${quoteText(orderReference)}"`;
	const customer = isSame ? 'The customer' : 'A customer';
	return `${customer} may already have been charged${order}, ${soNotSent}`;
}

function describeEntered({ memory, itemKey, kind, enteredText = '' }: Subject & Keys): string {
	const lines = parseHashes(enteredText).flatMap((hash) => {
		const other = memory.findOtherItem(itemKey, hash);
		return other ? [`The hash ${quoteText(hash)} belongs to ${describeRunItem(other)}.`] : [];
	});
	if (splitEntered(enteredText).length === lines.length) return lines.join(' ');
	const other = lines.length > 0 ? 'other ' : '';
	const words = kind === 'charge' ? 'code or hash' : 'code';
	const noEffect = `No ${other}${words} that was entered ends this doubt.`;
	return [...lines, noEffect, ENTERED_RULES[kind]].join(' ');
}

function describeAttempt(context: IExecuteFunctions, { attempt, about }: Doubt): string {
	if (!attempt) {
		return 'An earlier attempt is on record, but its result is not: n8n was restarted or updated since, its database failed, another n8n process sent it, the service refused the request that a code allowed, or it was long ago.';
	}
	const { startedAt, result } = attempt;
	// The transaction may be another customer's.
	const transaction = about === undefined ? 'a transaction' : `transaction ${String(result?.hash)}`;
	return result
		? `It was charged as ${transaction}, but the service does not return that transaction now.`
		: `An attempt at ${formatTime(startedAt, context.getTimezone())} got no usable answer.`;
}

function describeDetails({ kind, about: now }: Subject, { isSame, about }: Doubt): string {
	if (about === now || (isSame && kind === 'offer')) return `Details: ${now}.`;
	const unknown = isSame
		? 'It was for the same customer, perhaps with other items or at another price.'
		: 'It may have been for a different customer or amount.';
	return `${about === undefined ? unknown : `Details: ${about}.`} Asked for now: ${now}.`;
}

function describeWayOut(
	{ context, kind, isAgentCall, orderReference, enteredText }: Subject,
	code?: string,
): string {
	const option = kind === 'charge' ? 'Charge in Doubt' : 'Code to Create Again';
	const path = `Options > ${option}${isAgentCall ? ' of this tool' : ''}`;
	const forThis =
		orderReference === undefined
			? ' and is for this purchase, not an earlier one'
			: ' and is for this order';
	const enter =
		kind === 'charge'
			? `If it is there${forThis}, and has not failed or expired, set ${path} to its hash; otherwise set it to`
			: `If it is there, leave this item out. If it is not there, set ${path} to`;
	const mayNeedSeveral = context.getInputData().length > 1 || Boolean(enteredText);
	const several = mayNeedSeveral ? ' Separate several with commas.' : '';
	const look = `for the ${kind} in the service's dashboard. ${enter}`;
	// A model would enter a code without looking.
	if (isAgentCall) {
		return `Do not ask for it again: a person has to look ${look} the code in n8n's log.`;
	}
	// The service may still be making the charge.
	const when = 'Wait a few minutes, then look';
	return code === undefined
		? `${when} ${look} a code. n8n's database did not answer, so no code can be shown now: ${RUN_AGAIN} to get one.`
		: `${when} ${look} ${code}; then ${RUN_AGAIN}.${several}`;
}

export function changedRequestError(
	{ kind, about }: Subject,
	{ result, about: earlier }: Attempt,
): NotSentError {
	const [message, existing, replace] =
		kind === 'charge'
			? [
					'This item was already charged',
					'transaction',
					' to replace it, cancel it in the service, then use Retry again;',
				]
			: ['The offer already exists', 'offer', ''];
	return newNotSentError(
		`${message}, so the changed ${kind} was not sent`,
		`The existing ${existing} is ${String(result?.hash)} (${earlier}). Asked for now: ${about}.\nTo keep the existing ${existing}, set the form back to what it was;${replace} to send the changed ${kind} as well, start a new execution with this item alone.`,
	);
}

/** States both ways out, because a reference may contain the month, so the charge may be last month's. */
export function hasOtherReferenceError(
	subject: Subject,
	{ orderReference, result }: Attempt,
): NotSentError {
	const asked = quoteText(subject.orderReference ?? '');
	const own = orderReference === undefined ? undefined : `"${quoteText(orderReference)}"`;
	const under = own === undefined ? 'another Order Reference' : `Order Reference ${own}`;
	return newNotSentError(
		`The customer was already charged under ${under}, so ${notSentPhrase(subject)} for "${asked}"`,
		`The existing transaction is ${String(result?.hash)}. If that is this order, set Order Reference back to ${own ?? 'what it was then'}, or clear it, and use Retry again. If "${asked}" is another order, charge it in a new execution, with this item alone.`,
	);
}

export function otherAccountError(subject: Subject, { result }: Attempt): NotSentError {
	const [made, existing] =
		subject.kind === 'charge'
			? ['The customer was already charged', `transaction ${String(result?.hash)}`]
			: ['The offer was already created', `offer ${String(result?.hash)}`];
	const other = subject.orderReference === undefined ? '' : ' and another Order Reference';
	return newNotSentError(
		`${made} with another token or Base URL, so ${notSentPhrase(subject)}`,
		`Look for ${existing} in both accounts. If it is there, continue with it. To create it in the present account as well, start a new execution with this item alone${other}.`,
	);
}

export function resultReadFailedError(
	subject: Subject,
	hash: string,
	answer: FailedOutcome,
): NotSentError {
	const message = `The customer was already charged, but transaction ${hash} could not be read`;
	const when = isUnknownToService(answer) ? 'in a few minutes' : 'when the service answers again';
	const toDo = `Continue with it: read it with Transaction > Get ${when}.`;
	return readFailedError(subject, answer, message, toDo);
}

/** An Order Reference was added to a charge, but another charge has it. */
export function referenceTakenError(subject: Subject, { result }: Attempt): NotSentError {
	const order = quoteText(subject.orderReference ?? '');
	return newNotSentError(
		`Order Reference "${order}" already belongs to another charge, so ${notSentPhrase(subject)}`,
		`The existing transaction of this item is ${String(result?.hash)}. Correct Order Reference, or leave this item out; in a Retry, clear Order Reference.`,
	);
}

export function resultNotRecordedError(
	subject: Subject,
	{ result }: Attempt,
	reason: string,
): NotSentError {
	return newNotSentError(
		`The customer was already charged, but n8n could not record that, so ${notSentPhrase(subject)}`,
		`Reason: ${reason}.\nContinue with transaction ${String(result?.hash)}: read it with Transaction > Get.`,
	);
}

export function readFailedError(
	subject: Subject,
	answer: FailedOutcome,
	message: string,
	toDo: string,
): NotSentError {
	const { status } = answer;
	const answered = status === undefined ? 'did not answer' : `answered with status ${status}`;
	const advice = `The service ${answered}, and ${notSentPhrase(subject)}. ${toDo}`;
	return newNotSentError(message, advice, 'unknown', answer);
}

/** An unknown hash may get a 404, another 4xx, or a failure with status 200. */
export function isUnknownToService({ kind }: FailedOutcome): boolean {
	return kind === 'notFound' || kind === 'rejected';
}

/** @param own the charge with that Order Reference, if it is of the same customer */
export function orderHasOtherDataError(subject: Subject, own?: Attempt): NotSentError {
	const { orderReference = '', about } = subject;
	// A model would charge again under another reference.
	if (subject.isAgentCall) {
		return newNotSentError(
			`Order Reference "${quoteText(orderReference)}" already has a charge with other data, so ${notSentPhrase(subject)}`,
			'Do not charge again under another reference: a person has to look at the earlier charge, and cancel it in the service if it has to be replaced.',
		);
	}
	const [others, advice] = own
		? [
				'another cart or amount of this customer',
				`The existing transaction is ${String(own.result?.hash)} (${own.about}). Asked for now: ${about}.\nIf this is the same order, continue with that hash (Transaction > Get), or cancel it in the service to replace it; if not, change the reference of this item only: another item whose reference changes would be charged again.`,
			]
		: [
				'a different customer, cart or amount',
				'Change the reference of this item only: another item whose reference changes would be charged again. If this is the same order with corrected data, cancel its earlier charge in the service first.',
			];
	const order = `Order Reference "${quoteText(orderReference)}"`;
	return newNotSentError(
		`${order} already belongs to ${others}, so ${notSentPhrase(subject)}`,
		advice,
	);
}

export function repeatedOrderError({ orderReference = '' }: Subject): NotSentError {
	return newNotSentError(
		`Two items of this run have Order Reference "${quoteText(orderReference)}", but differ in customer, cart or amount`,
		'Put what belongs to one order into one cart, or change the reference of this item only: another item whose reference changes would be charged again.',
		'notSent',
	);
}

export function attemptNotRecordedError({ kind }: Subject, reason: string): NotSentError {
	return newNotSentError(
		`n8n could not record the ${kind}, so it was not sent`,
		`Reason: ${reason}.\nCheck the database of n8n, then ${RUN_AGAIN}.`,
		'notSent',
	);
}

/** With several items or runs, others may be sent. */
export function notSentPhrase({ context, memory }: Subject): string {
	const isOnly = context.getInputData().length === 1 && memory.runNumber() === 0;
	return isOnly ? 'nothing was sent' : 'this item was not sent';
}

export function newNotSentError(
	message: string,
	advice: string,
	shown: ShownOutcome = 'unknown',
	answer?: FailedOutcome,
): NotSentError {
	return new NotSentError(message, advice, { shown, answer });
}
