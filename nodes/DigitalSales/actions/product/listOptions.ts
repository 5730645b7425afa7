import { z } from 'zod';
import type { ClientOptions } from '../../api/client';
import type { QueryNames } from '../../api/products';
import { withoutBlanks } from '../../domain/blanks';
import { optional, textField, wholeNumberField } from '../../form/fields';
import { field, formOf, type FormValues } from '../../form/formOf';
import { clientOptions, type RequestOptions } from '../../form/requestOptions';

/** The rate limit of the account, if it is not the documented one. */
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

const queryName = <const N extends string>(
	displayName: string,
	name: N,
	initial: string,
	what: string,
) =>
	field(
		{
			displayName,
			name,
			type: 'string',
			default: initial,
			description: `The parameter for ${what}`,
		},
		optional(textField),
	);

const names = formOf([
	queryName('Categories', 'categories', 'categories', 'the category IDs'),
	queryName('Page', 'page', 'page', 'the page number'),
	queryName('Page Size', 'pageSize', 'per_page', 'the number of products per page'),
	queryName('Search', 'search', 'search', 'the search text'),
	queryName('Status', 'status', 'status', 'the product status'),
]);

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

/** The options in the units of the client. */
export function listClientOptions(options: ListOptions): ClientOptions {
	const { requestLimit, requestLimitWindow } = options;
	const isSet = requestLimit !== undefined || requestLimitWindow !== undefined;
	return {
		...clientOptions(options),
		productRate: isSet
			? { requests: requestLimit ?? 20, perMs: (requestLimitWindow ?? 60) * 1_000 }
			: undefined,
	};
}

/** The names that were typed. */
export function queryNames(options: ListOptions): Partial<QueryNames> {
	return withoutBlanks(options.queryParameterNames?.names ?? {});
}
