import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import type { ClientOptions } from '../../api/client';
import type { QueryNames } from '../../api/products';
import { withoutBlanks } from '../../domain/blanks';
import { optional, textField, wholeNumberField } from '../../form/fields';
import { clientOptions, type RequestOptions } from '../../form/requestOptions';

/** How much of the account's budget there is to spend. */
export const requestLimitOptions: INodeProperties[] = [
	{
		displayName: 'Request Limit',
		name: 'requestLimit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 20,
		description:
			'How many product requests your account can make within the Request Limit Window. The documented limit is 20 in 60 seconds.',
	},
	{
		displayName: 'Request Limit Window',
		name: 'requestLimitWindow',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 60,
		description: 'The length in seconds of the window that the Request Limit applies to',
	},
];

const NAME_PROPERTIES: Record<keyof QueryNames, INodeProperties> = {
	categories: {
		displayName: 'Categories',
		name: 'categories',
		type: 'string',
		default: 'categories',
		description: 'The parameter for the category IDs',
	},
	page: {
		displayName: 'Page',
		name: 'page',
		type: 'string',
		default: 'page',
		description: 'The parameter for the page number',
	},
	pageSize: {
		displayName: 'Page Size',
		name: 'pageSize',
		type: 'string',
		default: 'per_page',
		description: 'The parameter for the number of products per page',
	},
	search: {
		displayName: 'Search',
		name: 'search',
		type: 'string',
		default: 'search',
		description: 'The parameter for the search text',
	},
	status: {
		displayName: 'Status',
		name: 'status',
		type: 'string',
		default: 'status',
		description: 'The parameter for the product status',
	},
};

/** What the query parameters are called that an operation sends. */
export const queryNamesOption: INodeProperties = {
	displayName: 'Query Parameter Names',
	name: 'queryParameterNames',
	type: 'fixedCollection',
	default: {},
	description:
		'The names that your service uses for its query parameters. Set them if a filter or the page size has no effect; the names are not documented.',
	options: [{ displayName: 'Names', name: 'names', values: Object.values(NAME_PROPERTIES) }],
};

const nameField = optional(textField);

export const listOptionsShape = {
	requestLimit: optional(wholeNumberField(1)),
	requestLimitWindow: optional(wholeNumberField(1)),
	queryParameterNames: z
		.object({
			names: z
				.object({
					categories: nameField,
					page: nameField,
					pageSize: nameField,
					search: nameField,
					status: nameField,
				})
				.optional(),
		})
		.optional(),
};

type ListOptions = RequestOptions & z.output<z.ZodObject<typeof listOptionsShape>>;

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
