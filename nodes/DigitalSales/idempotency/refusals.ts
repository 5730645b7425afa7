import compact from 'lodash/compact';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ShownOutcome } from '../api/retryTable';
import type { FailedOutcome } from '../api/serviceError';
import { quoted, RUN_AGAIN } from '../domain/text';
import { isTool } from '../n8n/tool';
import { Refusal } from '../output/errors';
import type { Attempt, ExecutionMemory } from './attempts';

/** What is being created, in the terms of an error. */
export interface Subject {
	context: IExecuteFunctions;
	itemIndex: number;
	kind: 'charge' | 'offer';
	/** A few words to look it up by. */
	about: string;
	memory: ExecutionMemory;
	orderReference?: string;
	/** What the user typed of something in doubt: codes that allow it again, hashes of what exists. */
	repeatCode?: string;
}

/** What may exist already, as far as it is known. */
export interface Doubt {
	/** Missing if only n8n's database knows of it. */
	attempt?: Attempt;
	/** Whether it was for the same customer, cart and amount, or the same offer. */
	isSame: boolean;
	/** To look it up by; missing if it is not known, or belongs to somebody else. */
	about?: string;
	orderReference?: string;
	/** Of what is asked for: the keys that it accounts for. */
	keys: string[];
}

const NO_END =
	'No code or hash that was entered ends this doubt: a code holds once, for what its error described, until the next day; a hash only for a charge of this customer, amount and order that can still be paid.';

/** Earlier attempts may have made it; the code, if there is one, allows what is asked for now. */
export function inDoubt(subject: Subject, doubts: Doubt[], code: string | undefined): Refusal {
	const { context } = subject;
	const [message = ''] = doubts.map((doubt) => possibly(subject, doubt));
	const reasons = doubts.map((doubt, nth) => {
		const also = nth === 0 ? '' : `Also: ${possibly(subject, doubt)}. `;
		const { about } = doubt;
		const details = about === undefined ? 'It may have been for other data.' : `Details: ${about}.`;
		const asked = doubt.isSame ? '' : ` Asked for now: ${subject.about}.`;
		return `${also}${whatIsKnown(doubt.attempt)} ${details}${asked}`;
	});
	// What another process sends just now is not in the dashboard yet.
	const when = doubts.every(({ attempt }) => attempt) ? 'Look' : 'Wait a few minutes, then look';
	const stopsOthers = context.getInputData().length > 1 && !context.continueOnFail();
	const meanwhile = 'For the other items, set On Error to Continue in the Settings of this node.';
	const lines = [...reasons, subject.repeatCode && NO_END, wayOut(subject, when, code)];
	return refusal(message, compact([...lines, stopsOthers && meanwhile]).join('\n'));
}

function wayOut({ context, kind, orderReference }: Subject, when: string, code?: string): string {
	const option = (name: string): string =>
		`Options > ${name}${isTool(context) ? ' of this tool' : ''}`;
	const forThis = orderReference === undefined ? '' : ' and is for this order';
	const enter =
		kind === 'charge'
			? `If it is there${forThis}, set ${option('Charge in Doubt')} to its hash; if not, to`
			: `If it is not there, set ${option('Code to Create Again')} to`;
	const look = `for the ${kind} in the service's dashboard. ${enter}`;
	// A model that reads a code enters it without looking.
	if (isTool(context)) {
		return `Do not ask for it again: a person has to look ${look} the code in n8n's log.`;
	}
	const theCode = code ?? "the code that comes when this is run again: now n8n's database failed";
	return `${when} ${look} ${theCode}; then ${RUN_AGAIN}.`;
}

function possibly(subject: Subject, { isSame, orderReference }: Doubt): string {
	const item = isSame ? '' : ' for this item';
	if (subject.kind === 'offer') {
		return `${isSame ? 'The' : 'Another'} offer${item} may already exist, so ${unsent(subject)}`;
	}
	const what = orderReference === undefined ? item : ` for order "${quoted(orderReference)}"`;
	const who = isSame ? 'The customer' : 'A customer';
	return `${who} may already have been charged${what}, so ${unsent(subject)}`;
}

function whatIsKnown(attempt: Attempt | undefined): string {
	if (!attempt) {
		return 'n8n has a record of an attempt, but not of its outcome: n8n was restarted or this package was updated since, it was long ago, another process sent it or is sending it, or its database failed or was too slow.';
	}
	const { startedAt, result } = attempt;
	return result
		? `It was charged as transaction ${String(result.hash)}, but the service does not return that transaction now.`
		: `An attempt at ${new Date(startedAt).toISOString()} got no usable answer.`;
}

/** A Retry of the execution asks for something else than it made in this place. */
export function changed({ kind, about }: Subject, earlier: Attempt): Refusal {
	const [message, existing] =
		kind === 'charge'
			? ['This item was already charged', 'transaction']
			: ['The offer already exists', 'offer'];
	return refusal(
		`${message}, so the changed ${kind} was not sent`,
		`The existing ${existing} is ${String(earlier.result?.hash)} (${earlier.about}). Asked for now: ${about}.\nTo send that as well, start a new execution with this item alone.`,
	);
}

/** A reference made from the date would else take what is paid for what is due. */
export function otherReference(subject: Subject, { orderReference, result }: Attempt): Refusal {
	const asked = quoted(subject.orderReference ?? '');
	const own = orderReference === undefined ? undefined : `"${quoted(orderReference)}"`;
	return refusal(
		`The customer was already charged under ${own === undefined ? 'another Order Reference' : `Order Reference ${own}`}, so ${unsent(subject)} for "${asked}"`,
		`The existing transaction is ${String(result?.hash)}. If that is this order, set Order Reference back to ${own ?? 'what it was then'} and use Retry again. If "${asked}" is another order, charge it in a new execution, with this item alone.`,
	);
}

/** It was made in this place, but cannot be read with the present token. */
export function otherAccount(subject: Subject): Refusal {
	const what =
		subject.kind === 'charge'
			? 'The customer was already charged'
			: 'The offer was already created';
	return refusal(
		`${what} with another token or Base URL, so ${unsent(subject)}`,
		'Choose the credential that this execution started with. To use the present one as well, start a new execution with this item alone.',
	);
}

/** It was made before, but the service does not return it right now, or, if it is new, not yet. */
export function unreadable(
	subject: Subject,
	hash: string,
	answer: FailedOutcome,
	isNew = false,
): Refusal {
	const { status } = answer;
	const happened = status === undefined ? 'did not answer' : `answered with status ${status}`;
	const toDo = isNew
		? `It may not show a new charge yet: wait a few minutes, then ${RUN_AGAIN}.`
		: 'Read it with Transaction > Get when the service answers again.';
	return refusal(
		`The customer was already charged, but transaction ${hash} could not be read`,
		`The service ${happened}, and ${unsent(subject)}. ${toDo}`,
		'unknown',
		answer,
	);
}

/**
 * The reference belongs to another order.
 *
 * @param own what was charged for it, if that was the same customer: nobody else's is shown
 */
export function otherOrder({ orderReference = '', about }: Subject, own?: Attempt): Refusal {
	const used = `Order Reference "${quoted(orderReference)}" was used before for`;
	return own
		? refusal(
				`${used} another cart or amount of this customer`,
				`The existing transaction is ${String(own.result?.hash)} (${own.about}). Asked for now: ${about}.\nIf this is the same order, continue with that hash (Transaction > Get); if not, give it its own reference.`,
				'notSent',
			)
		: refusal(
				`${used} another customer, cart or amount`,
				'Give each order its own reference.',
				'notSent',
			);
}

/** n8n's database refuses the entry that must exist before anything is sent. */
export function notRecorded({ kind }: Subject, reason: string): Refusal {
	return refusal(
		`n8n could not record the ${kind}, so it was not sent`,
		`Reason: ${reason}.\nCheck the database of n8n, then ${RUN_AGAIN}.`,
		'notSent',
	);
}

/** The other items of the run, and those of earlier runs, may have been sent. */
function unsent({ context, memory }: Subject): string {
	const isOnly = context.getInputData().length === 1 && memory.run() === 0;
	return isOnly ? 'nothing was sent' : 'this item was not sent';
}

function refusal(
	message: string,
	advice: string,
	outcome: ShownOutcome = 'unknown',
	answer?: FailedOutcome,
): Refusal {
	return new Refusal(message, { advice, outcome, answer });
}
