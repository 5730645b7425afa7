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
	description: 'How many seconds to wait for the answer to one request',
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
			'How many times to send a request at most if the connection fails, the service is unavailable, or a rate limit (429) does not say how long to wait. Repeating a read changes nothing in the service.',
	},
	{
		displayName: 'Maximum Wait',
		name: 'maxWait',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 300,
		description:
			'How many seconds after the first try another one may begin. If a rate limit (429) says how long to wait, the node waits that long within this time.',
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
			'How many times to send the request at most if the service cannot be reached at all, or a rate limit (429) does not say how long to wait. Once the service may have processed it, it is never sent again.',
	},
	{
		displayName: 'Maximum Wait',
		name: 'maxWait',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 300,
		description:
			'How many seconds to wait out a rate limit (429) before the item fails. The node assumes that nothing is created on a 429.',
	},
];

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
