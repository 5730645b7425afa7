import { z } from 'zod';
import type { ClientOptions } from '../../api/client';
import type { QueryNames } from '../../api/products';
import { withoutBlanks } from '../../domain/blanks';
import { optional, textField, wholeNumberField } from '../../form/fields';
import { field, formOf, type FormValues } from '../../form/formOf';
import { clientOptions, type RequestOptions } from '../../form/requestOptions';

/** How much of the account's budget there is to spend. */
export const requestLimitOptions = [
	field(
		{
			displayName: 'Request Limit',
			name: 'requestLimit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 20,
			description:
				'How many product requests your account can make within the Request Limit Window. The documented limit is 20 in 60 seconds.',
		},
		optional(wholeNumberField(1)),
	),
	field(
		{
			displayName: 'Request Limit Window',
			name: 'requestLimitWindow',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 60,
			description: 'The length in seconds of the window that the Request Limit applies to',
		},
		optional(wholeNumberField(1)),
	),
];

const names = formOf([
	field(
		{
			displayName: 'Categories',
			name: 'categories',
			type: 'string',
			default: 'categories',
			description: 'The parameter for the category IDs',
		},
		optional(textField),
	),
	field(
		{
			displayName: 'Page',
			name: 'page',
			type: 'string',
			default: 'page',
			description: 'The parameter for the page number',
		},
		optional(textField),
	),
	field(
		{
			displayName: 'Page Size',
			name: 'pageSize',
			type: 'string',
			default: 'per_page',
			description: 'The parameter for the number of products per page',
		},
		optional(textField),
	),
	field(
		{
			displayName: 'Search',
			name: 'search',
			type: 'string',
			default: 'search',
			description: 'The parameter for the search text',
		},
		optional(textField),
	),
	field(
		{
			displayName: 'Status',
			name: 'status',
			type: 'string',
			default: 'status',
			description: 'The parameter for the product status',
		},
		optional(textField),
	),
]);

/** What the query parameters are called that an operation sends. */
export const queryNamesOption = field(
	{
		displayName: 'Query Parameter Names',
		name: 'queryParameterNames',
		type: 'fixedCollection',
		default: {},
		description:
			'The names that your service uses for its query parameters. Set them if a filter or the page size has no effect; the names are not documented.',
		options: [{ displayName: 'Names', name: 'names', values: names.properties }],
	},
	(reading) => z.object({ names: names.schema(reading).optional() }).optional(),
);

interface ListOptions extends RequestOptions {
	requestLimit?: number;
	requestLimitWindow?: number;
	queryParameterNames?: { names?: FormValues<typeof names> };
}

const SECOND_MS = 1_000;

/** The options of the form in the units of the client. */
export function listClientOptions(options: ListOptions): ClientOptions {
	const { requestLimit = 20, requestLimitWindow = 60 } = options;
	const ownRate = options.requestLimit !== undefined || options.requestLimitWindow !== undefined;
	return {
		...clientOptions(options),
		productRate: ownRate
			? { requests: requestLimit, perMs: requestLimitWindow * SECOND_MS }
			: undefined,
	};
}

/** The names that were typed; the others stay as they are. */
export function queryNames(options: ListOptions): Partial<QueryNames> {
	return withoutBlanks(options.queryParameterNames?.names ?? {});
}
