import { defineField } from './defineForm';
import { parseTexts, parseWith } from './fields';

/** Not groups of statuses. */
export const OTHER = 'other';
export const ANY = 'any';

const OPTIONS = [
	{
		name: 'Paid',
		value: 'paid',
		action: 'On transaction paid',
		description: 'The money has arrived',
	},
	{
		name: 'Waiting for Payment',
		value: 'waiting',
		action: 'On transaction waiting for payment',
		description: 'Created, under review or authorized, but not paid',
	},
	{
		name: 'Refunded or Charged Back',
		value: 'reversed',
		action: 'On transaction refunded or charged back',
		description: 'Also a MED (the return of a PIX), and what is only requested or under review',
	},
	{
		name: 'Refused, Canceled or Expired',
		value: 'failed',
		action: 'On transaction refused, canceled or expired',
		description: 'The customer can no longer pay this transaction',
	},
	{
		name: 'Any Status',
		value: ANY,
		action: 'On any status change',
		description: 'Every status change, including to statuses not listed here',
	},
	{
		name: 'Other',
		value: OTHER,
		action: 'On selected statuses',
		description: 'Statuses that you enter yourself',
	},
];
const CHOICES = OPTIONS.map(({ value }) => value);

const SUBTITLE_WORDS = {
	[ANY]: 'any status change',
	[OTHER]: 'selected statuses',
	reversed: 'refunded',
	failed: 'refused',
	waiting: 'waiting for payment',
};

export const triggerSubtitle = `={{ "on " + $parameter["triggerOn"].map((status) => (${JSON.stringify(SUBTITLE_WORDS)})[status] ?? status).join(", ") }}`;

export const triggerOnField = defineField({
	displayName: 'Trigger On',
	name: 'triggerOn',
	type: 'multiOptions',
	options: OPTIONS,
	default: ['paid'],
	description: 'The payment statuses that start the workflow',
	reads: parseWith(parseTexts).refine(
		(statuses) => statuses.every((status) => CHOICES.includes(status)),
		`must contain only ${CHOICES.join(', ')}`,
	),
});
