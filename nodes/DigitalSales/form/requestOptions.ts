import type { INodeProperties } from 'n8n-workflow';
import type { z } from 'zod';
import type { ClientOptions } from '../api/client';
import { optional, wholeNumberField } from './fields';

/** How long a request may take and how often it is tried, for the Options of every operation. */
export const timeoutOption: INodeProperties = {
	displayName: 'Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 60,
	description: 'How many seconds one request may take before it is given up',
};

/** The options of an operation that only reads and may therefore try again. */
export const readingOptions: INodeProperties[] = [
	{
		displayName: 'Maximum Tries',
		name: 'maxTries',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 5,
		description:
			'How often a request is sent at most if the connection fails, the service is unavailable, or a rate limit (429) does not say how long to wait. Reading again changes nothing in the service.',
	},
	{
		displayName: 'Maximum Wait',
		name: 'maxWait',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 300,
		description:
			'For how many seconds after the first try a further one may begin. A rate limit (429) that says how long to wait is waited out within this time.',
	},
];

/** The options of an operation that creates something: only what was not processed is tried again. */
export const writingOptions: INodeProperties[] = [
	{
		displayName: 'Maximum Tries',
		name: 'maxTries',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 5,
		description:
			'How often the request is sent at most if the service cannot be reached at all, or a rate limit (429) does not say how long to wait. Once the service may have processed it, it is never sent again.',
	},
	{
		displayName: 'Maximum Wait',
		name: 'maxWait',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 300,
		description:
			'For how many seconds a rate limit (429) is waited out before the item fails. It is assumed that nothing is created on a 429.',
	},
];

/** What the two options above can do about a rate limit. */
export const RATE_LIMIT_ADVICE =
	'The node waited and tried again as far as Options > Maximum Wait and Options > Maximum Tries allow. Raise them, or run fewer workflows of this account at the same time.';

/** Where the user says that something in doubt was not made. */
export function repeatCodeOption(displayName: string, description: string): INodeProperties {
	return {
		displayName,
		name: 'repeatCode',
		type: 'string',
		default: '',
		placeholder: 'e.g. 7KQ2-M4XD',
		description,
	};
}

export const requestOptionsShape = {
	timeout: optional(wholeNumberField(1, 3_600)),
	maxTries: optional(wholeNumberField(1, 100)),
	maxWait: optional(wholeNumberField(0, 86_400)),
};

/** The request options of a form. */
export type RequestOptions = z.output<z.ZodObject<typeof requestOptionsShape>>;

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
