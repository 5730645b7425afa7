import type { IExecuteFunctions } from 'n8n-workflow';
import type { FailedOutcome, ShownOutcome } from '../api/outcome';
import { formatReais } from '../domain/money';
import { Refusal } from '../output/errors';
import type { Attempt } from './attempts';

/** What is being created, in the terms of an error. */
export interface Subject {
	context: IExecuteFunctions;
	itemIndex: number;
	kind: 'charge' | 'offer';
	/** A few words to look it up by. */
	about: string;
	/** The total in integer cents, if known. */
	amount?: number;
	orderReference?: string;
}

const LONGEST_REFERENCE = 60;

/** An earlier attempt may have made it. `earlier` is missing if only n8n's database knows of it. */
export function inDoubt(subject: Subject, code: string, earlier?: Attempt): Refusal {
	const { kind, about, context } = subject;
	const reason = earlier
		? `An attempt at ${new Date(earlier.startedAt).toISOString()} got no usable answer.`
		: 'n8n has a record of an earlier attempt, but not of its outcome: n8n was restarted or this package was updated since then, or another process of n8n has sent it or is sending it now.';
	const check =
		kind === 'charge'
			? `Check the service's dashboard. If the transaction is there, continue with its hash (Transaction > Get). If it is not, set Options > Code to Charge Again to ${code} and run this again. The code allows this one charge.`
			: `Check the service's dashboard. If the offer is not there, set Options > Code to Create Again to ${code} and run this again. The code allows this one offer.`;
	const stopsOthers = context.getInputData().length > 1 && !context.continueOnFail();
	const others = stopsOthers
		? '\nTo continue with the other items meanwhile, set On Error to Continue in the Settings of this node.'
		: '';
	return refusal(messageOfDoubt(subject), `${reason} Details: ${about}.\n${check}${others}`);
}

/** A Retry of the execution asks for something else than it made in this place. */
export function changed(subject: Subject, earlier: Attempt): Refusal {
	const hash = String(earlier.result?.hash);
	if (subject.kind === 'offer') {
		return refusal(
			'The offer was already created, so the changed one was not sent',
			`Its hash is ${hash}. To create another offer, start a new execution.`,
		);
	}
	const was = earlier.amount === undefined ? '' : ` ${formatReais(earlier.amount)}`;
	const is = subject.amount === undefined ? '' : ` of ${formatReais(subject.amount)}`;
	return refusal(
		`${customerPhrase(subject)} was already charged${was}, so the changed charge${is} was not sent`,
		`The existing transaction is ${hash}. To charge the changed cart as well, start a new execution instead of retrying this one.`,
	);
}

/** It was made in this place, but cannot be read with the present token. */
export function otherAccount(subject: Subject): Refusal {
	const what =
		subject.kind === 'charge'
			? `${customerPhrase(subject)} was already charged`
			: 'The offer was already created';
	return refusal(
		`${what} with another token or Base URL, so nothing was sent`,
		'Choose the credential that this execution started with, or start a new execution.',
	);
}

/** It was made before, but the service does not return it right now. */
export function unreadable(subject: Subject, hash: string, read: FailedOutcome): Refusal {
	const answer =
		read.status === undefined ? 'did not answer' : `answered with status ${read.status}`;
	return refusal(
		`${customerPhrase(subject)} was already charged, but transaction ${hash} could not be read`,
		`The service ${answer}. Nothing was sent.\nRead it with Transaction > Get when the service answers again.`,
		'unknown',
		read,
	);
}

/** The reference belongs to another order. */
export function otherOrder(subject: Subject): Refusal {
	return refusal(
		`Order Reference "${shortReference(subject)}" was used before for another customer, cart or amount`,
		'Nothing was sent. Give each order its own reference.',
		'notSent',
	);
}

/** n8n's database refuses the entry that must exist before anything is sent. */
export function notRecorded(subject: Subject, reason: string): Refusal {
	return refusal(
		`n8n could not record the ${subject.kind}, so it was not sent`,
		`Reason: ${reason}.\nCheck the database of n8n, then run this again.`,
		'notSent',
	);
}

/** Whose charge it is; items count from 1. */
export function customerPhrase({ context, itemIndex }: Subject): string {
	return context.getInputData().length === 1
		? 'The customer'
		: `The customer of item ${itemIndex + 1}`;
}

function messageOfDoubt(subject: Subject): string {
	if (subject.kind === 'offer') return 'The offer may already exist, so it was not created again';
	const order =
		subject.orderReference === undefined ? '' : ` for order "${shortReference(subject)}"`;
	return `${customerPhrase(subject)} may already have been charged${order}, so nothing was sent`;
}

function shortReference({ orderReference = '' }: Subject): string {
	return orderReference.length > LONGEST_REFERENCE
		? `${orderReference.slice(0, LONGEST_REFERENCE)}...`
		: orderReference;
}

function refusal(
	message: string,
	advice: string,
	outcome: ShownOutcome = 'unknown',
	read?: FailedOutcome,
): Refusal {
	return new Refusal(message, { advice, outcome, read });
}
