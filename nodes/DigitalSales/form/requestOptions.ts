import type { ClientOptions } from '../api/client';
import { optional, textField, wholeNumberField } from './fields';
import { field, type Field } from './formOf';

const triesField = optional(wholeNumberField(1, 100));
const waitField = optional(wholeNumberField(0, 86_400));

/** How long a request may take, for the Options of every operation. */
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

/** The options of an operation that only reads and may therefore try again. */
export const readingOptions = [
	field(
		{
			displayName: 'Maximum Tries',
			name: 'maxTries',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 5,
			description:
				'How many times to send a request at most if the connection fails, the service is unavailable, or a rate limit (429) does not say how long to wait. Repeating a read changes nothing in the service.',
		},
		triesField,
	),
	field(
		{
			displayName: 'Maximum Wait',
			name: 'maxWait',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 300,
			description:
				'How many seconds after the first try another one may begin. If a rate limit (429) says how long to wait, the node waits that long within this time.',
		},
		waitField,
	),
];

/** The options of an operation that creates something: only what was not processed is tried again. */
export const writingOptions = [
	field(
		{
			displayName: 'Maximum Tries',
			name: 'maxTries',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 5,
			description:
				'How many times to send the request at most if the service cannot be reached at all, or a rate limit (429) does not say how long to wait. Once the service may have processed it, it is never sent again.',
		},
		triesField,
	),
	field(
		{
			displayName: 'Maximum Wait',
			name: 'maxWait',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 300,
			description:
				'How many seconds to wait out a rate limit (429) before the item fails. The node assumes that nothing is created on a 429.',
		},
		waitField,
	),
];

/** What the two options above can do about a rate limit. */
export const RATE_LIMIT_ADVICE =
	'The node waited and tried again as long as Options > Maximum Wait and Options > Maximum Tries allow. Raise them, or run fewer workflows of this account at the same time.';

/** Where the user says that something in doubt was not made. */
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

/** What a form says about its requests. */
export interface RequestOptions {
	/** In seconds, as `maxWait`. */
	timeout?: number;
	maxTries?: number;
	maxWait?: number;
}

/** The same in the units of the client. */
export function clientOptions(options: RequestOptions): ClientOptions {
	return {
		timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1_000,
		retry: {
			...(options.maxTries === undefined ? {} : { maxTries: options.maxTries }),
			...(options.maxWait === undefined ? {} : { maxTotalMs: options.maxWait * 1_000 }),
		},
	};
}
