import type { ClientOptions } from '../api/client';
import { optional, textField, wholeNumberField } from './fields';
import { field, type Field } from './formOf';

export function timeoutOption(seconds = 60): Field<'timeout', number | undefined> {
	return field(
		{
			displayName: 'Timeout',
			name: 'timeout',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: seconds,
			description: 'How many seconds to wait for the answer to one request',
		},
		optional(wholeNumberField(1, 3_600)),
	);
}

function retryOptions(maxTries: string, maxWait: string) {
	return [
		field(
			{
				displayName: 'Maximum Tries',
				name: 'maxTries',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 5,
				description: maxTries,
			},
			optional(wholeNumberField(1, 100)),
		),
		field(
			{
				displayName: 'Maximum Wait',
				name: 'maxWait',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 300,
				description: maxWait,
			},
			optional(wholeNumberField(0, 86_400)),
		),
	];
}

/** The options of an operation that only reads and may therefore try again. */
export const readingOptions = retryOptions(
	'How many tries one request gets, including the first, if the connection fails or the service is unavailable. Repeating a read changes nothing in the service.',
	'How many seconds after the first try another one may begin. Within this time the node also waits out a rate limit (429).',
);

/** The options of an operation that creates something: only what was not processed is tried again. */
export const writingOptions = retryOptions(
	'How many tries the request gets, including the first, if the service cannot be reached at all. Once the service may have processed it, it is never sent again.',
	'How many seconds after the first try another one may begin. Within this time the node also waits out a rate limit (429), on which it assumes that nothing was created.',
);

const MOST_AT_ONCE = 16;
export const DEFAULT_AT_ONCE = 4;

/** How many creations of a run may be under way at the same time. */
export const atOnceOption = field(
	{
		displayName: 'At Once',
		name: 'atOnce',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE },
		default: DEFAULT_AT_ONCE,
		description:
			'How many items to send at the same time. If one fails and the run stops, requests already under way still create their charge or offer, and a new execution may create it again.',
	},
	optional(wholeNumberField(1, MOST_AT_ONCE)),
);

/** With its code the user says that something in doubt was not made. */
export function repeatCodeOption(
	displayName: string,
	description: string,
): Field<'repeatCode', string | undefined> {
	return field(
		{
			displayName,
			name: 'repeatCode',
			type: 'string',
			default: '',
			placeholder: 'e.g. 7KQ2-M4XD',
			description,
		},
		optional(textField),
	);
}

/** What a form says about its requests; times in seconds. */
export interface RequestOptions {
	timeout?: number;
	maxTries?: number;
	maxWait?: number;
}

/** The options in the units of the client. */
export function clientOptions({ timeout, maxTries, maxWait }: RequestOptions): ClientOptions {
	return {
		timeoutMs: timeout === undefined ? undefined : timeout * 1_000,
		retry: {
			...(maxTries !== undefined && { maxTries }),
			...(maxWait !== undefined && { maxTotalMs: maxWait * 1_000 }),
		},
	};
}
