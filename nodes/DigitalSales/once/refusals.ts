import type { IExecuteFunctions } from 'n8n-workflow';
import type { FailedOutcome, ShownOutcome } from '../api/outcome';
import { Refusal } from '../output/errors';
import type { Attempt } from './attempts';

/** What is being created, in the terms of an error. */
export interface Subject {
	context: IExecuteFunctions;
	itemIndex: number;
	kind: 'charge' | 'offer';
	/** A few words to look it up by. */
	about: string;
	orderReference?: string;
}

const LONGEST_REFERENCE = 60;

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
	const [message = '', ...also] = doubts.map((doubt) => messageOfDoubt(subject, doubt));
	const [reason, ...reasons] = doubts.map((doubt) => reasonOf(subject, doubt));
	const more = reasons.map((one, nth) => `\nAlso: ${also[nth]}. ${one}`).join('');
	const [thing, option, isThere] =
		kind === 'charge'
			? [
					'charge',
					'Code to Charge Again',
					'If the transaction is there, continue with its hash (Transaction > Get). If it is not,',
				]
			: ['offer', 'Code to Create Again', 'If the offer is not there,'];
	const allow =
		code === undefined
			? "run this again for a code that allows it: now n8n's database failed."
			: `set Options > ${option} to ${code} and run this again. The code allows this one ${thing}.`;
	const check = `Check the service's dashboard. ${isThere} ${allow}`;
	const stopsOthers = context.getInputData().length > 1 && !context.continueOnFail();
	const others = stopsOthers
		? '\nTo continue with the other items meanwhile, set On Error to Continue in the Settings of this node.'
		: '';
	return refusal(message, `${reason}${more}\n${check}${others}`);
}

function reasonOf(subject: Subject, { attempt, isSame, about }: Doubt): string {
	const details = about === undefined ? 'It may have been for other data.' : `Details: ${about}.`;
	const asked = isSame ? '' : ` Asked for now: ${subject.about}.`;
	return `${whatIsKnown(attempt)} ${details}${asked}`;
}

function whatIsKnown(attempt: Attempt | undefined): string {
	if (!attempt) {
		return 'n8n has a record of an earlier attempt, but not of its outcome: n8n was restarted or this package was updated since then, another process of n8n has sent it or is sending it now, or its database failed or was too slow.';
	}
	const { startedAt, result } = attempt;
	return result
		? `It was charged as transaction ${String(result.hash)}, but the service has no such transaction now (404).`
		: `An attempt at ${new Date(startedAt).toISOString()} got no usable answer.`;
}

/** A Retry of the execution asks for something else than it made in this place. */
export function changed({ kind, itemIndex, about }: Subject, earlier: Attempt): Refusal {
	const isCharge = kind === 'charge';
	const item = isCharge ? `Item ${itemIndex + 1} was already charged` : 'The offer already exists';
	return refusal(
		`${item}, so the changed ${kind} was not sent`,
		`The existing ${isCharge ? 'transaction' : 'offer'} is ${String(earlier.result?.hash)} (${earlier.about}). Asked for now: ${about}.\nTo send that as well, start a new execution instead of retrying this one.`,
	);
}

/** The same was made in this execution, for this customer or for another: nothing tells them apart. */
export function perhapsAnother(subject: Subject): Refusal {
	return refusal(
		`${customerPhrase(subject)} may already have been charged in this execution, so nothing was sent`,
		'Nothing tells whether this is the same customer. Fill in the e-mail address, the phone, or the CPF or CNPJ.',
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
		`Order Reference "${shortened(subject.orderReference ?? '')}" was used before for another customer, cart or amount`,
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

function messageOfDoubt(subject: Subject, { isSame, orderReference }: Doubt): string {
	if (subject.kind === 'offer') {
		const what = isSame ? 'The offer' : 'Another offer for this item';
		return `${what} may already exist, so it was not created again`;
	}
	const who = isSame ? customerPhrase(subject) : 'A customer';
	const item = isSame ? '' : ` for item ${subject.itemIndex + 1}`;
	const what = orderReference === undefined ? item : ` for order "${shortened(orderReference)}"`;
	return `${who} may already have been charged${what}, so nothing was sent`;
}

function shortened(reference: string): string {
	return reference.length > LONGEST_REFERENCE
		? `${reference.slice(0, LONGEST_REFERENCE)}...`
		: reference;
}

function refusal(
	message: string,
	advice: string,
	outcome: ShownOutcome = 'unknown',
	read?: FailedOutcome,
): Refusal {
	return new Refusal(message, { advice, outcome, read });
}
