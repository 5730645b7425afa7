import type { IExecuteFunctions } from 'n8n-workflow';
import type { ShownOutcome } from '../api/retryTable';
import type { FailedOutcome } from '../api/serviceError';
import { quoted, RUN_AGAIN } from '../domain/text';
import { Refusal } from '../output/errors';
import type { Attempt, ExecutionMemory } from './memory';

/** What is being created, in the terms of an error. */
export interface Subject {
	context: IExecuteFunctions;
	itemIndex: number;
	kind: 'charge' | 'offer';
	/** A few words to look it up by. */
	about: string;
	memory: ExecutionMemory;
	orderReference?: string;
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

/** Earlier attempts may have made it; the code, if there is one, allows what is asked for now. */
export function inDoubt(subject: Subject, doubts: Doubt[], code: string | undefined): Refusal {
	const { kind, context } = subject;
	const [message = ''] = doubts.map((doubt) => possibly(subject, doubt));
	const reasons = doubts.map((doubt, nth) => {
		const also = nth === 0 ? '' : `Also: ${possibly(subject, doubt)}. `;
		const { about } = doubt;
		const details = about === undefined ? 'It may have been for other data.' : `Details: ${about}.`;
		const asked = doubt.isSame ? '' : ` Asked for now: ${subject.about}.`;
		return `${also}${whatIsKnown(doubt.attempt)} ${details}${asked}`;
	});
	const [isThere, option] =
		kind === 'charge'
			? ['if it is there, continue with its hash (Transaction > Get); if not,', 'Charge']
			: ['if it is not there,', 'Create'];
	const allow =
		code === undefined
			? `${RUN_AGAIN} for a code that allows it: now n8n's database failed.`
			: `set Options > Code to ${option} Again to ${code} and ${RUN_AGAIN}.`;
	// What another process sends just now is not in the dashboard yet.
	const when = doubts.every(({ attempt }) => attempt) ? 'Look' : 'Wait a few minutes, then look';
	const look = `${when} for the ${kind} in the service's dashboard: ${isThere} ${allow}`;
	const stopsOthers = context.getInputData().length > 1 && !context.continueOnFail();
	const meanwhile = 'For the other items, set On Error to Continue in the Settings of this node.';
	return refusal(message, [...reasons, look, ...(stopsOthers ? [meanwhile] : [])].join('\n'));
}

function possibly(subject: Subject, { isSame, orderReference }: Doubt): string {
	const item = isSame ? '' : ` for item ${subject.itemIndex + 1}`;
	if (subject.kind === 'offer') {
		return `${isSame ? 'The' : 'Another'} offer${item} may already exist, so ${unsent(subject)}`;
	}
	const what = orderReference === undefined ? item : ` for order "${quoted(orderReference)}"`;
	const who = isSame ? customerPhrase(subject) : 'A customer';
	return `${who} may already have been charged${what}, so ${unsent(subject)}`;
}

function whatIsKnown(attempt: Attempt | undefined): string {
	if (!attempt) {
		return 'n8n has a record of an attempt, but not of its outcome: n8n was restarted or this package was updated since, another process sent it or is sending it, or its database failed or was too slow.';
	}
	const { startedAt, result } = attempt;
	return result
		? `It was charged as transaction ${String(result.hash)}, but the service has no such transaction now (404).`
		: `An attempt at ${new Date(startedAt).toISOString()} got no usable answer.`;
}

/** A Retry of the execution asks for something else than it made in this place. */
export function changed({ kind, itemIndex, about }: Subject, earlier: Attempt): Refusal {
	const [message, existing] =
		kind === 'charge'
			? [`Item ${itemIndex + 1} was already charged`, 'transaction']
			: ['The offer already exists', 'offer'];
	return refusal(
		`${message}, so the changed ${kind} was not sent`,
		`The existing ${existing} is ${String(earlier.result?.hash)} (${earlier.about}). Asked for now: ${about}.\nTo send that as well, start a new execution with this item alone.`,
	);
}

/** It was made in this place, but cannot be read with the present token. */
export function otherAccount(subject: Subject): Refusal {
	const what =
		subject.kind === 'charge'
			? `${customerPhrase(subject)} was already charged`
			: 'The offer was already created';
	return refusal(
		`${what} with another token or Base URL, so ${unsent(subject)}`,
		'Choose the credential that this execution started with. To use the present one as well, start a new execution with this item alone.',
	);
}

/** It was made before, but the service does not return it right now. */
export function unreadable(subject: Subject, hash: string, answer: FailedOutcome): Refusal {
	const { status } = answer;
	const happened = status === undefined ? 'did not answer' : `answered with status ${status}`;
	return refusal(
		`${customerPhrase(subject)} was already charged, but transaction ${hash} could not be read`,
		`The service ${happened}, and ${unsent(subject)}. Read it with Transaction > Get when the service answers again.`,
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
function unsent({ context, itemIndex, memory }: Subject): string {
	const isOnly = context.getInputData().length === 1 && memory.run() === 0;
	return isOnly ? 'nothing was sent' : `item ${itemIndex + 1} was not sent`;
}

/** Whose charge it is; items count from 1. */
export function customerPhrase({ context, itemIndex }: Subject): string {
	return context.getInputData().length === 1
		? 'The customer'
		: `The customer of item ${itemIndex + 1}`;
}

function refusal(
	message: string,
	advice: string,
	outcome: ShownOutcome = 'unknown',
	answer?: FailedOutcome,
): Refusal {
	return new Refusal(message, { advice, outcome, answer });
}
