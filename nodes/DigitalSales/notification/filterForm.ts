import type {
	IHookFunctions,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { isJsonObject } from '../api/schemas/json';
import { displayPath } from '../form/displayPath';
import { moneyField, required } from '../form/fields';

export const PAYMENT_METHOD_OPTIONS: INodePropertyOptions[] = [
	{ name: 'Boleto', value: 'boleto' },
	{ name: 'Card', value: 'credit_card' },
	{ name: 'PIX', value: 'pix' },
];

/** The filters of the trigger node. */
export const filtersProperty: INodeProperties = {
	displayName: 'Filters',
	name: 'filters',
	type: 'collection',
	placeholder: 'Add Filter',
	default: {},
	options: [
		{
			displayName: 'Minimum Amount in Reais',
			name: 'minimumAmount',
			type: 'string',
			default: '',
			placeholder: 'e.g. 19,90',
			description:
				'Only transactions of this amount or more, for example 19,90. A transaction that does not state its amount does not start the workflow.',
		},
		{
			displayName: 'Offer Hashes',
			name: 'offerHashes',
			type: 'string',
			default: '',
			placeholder: 'e.g. offab12cd, off34efgh',
			description: 'Only transactions of these offers; hashes separated by commas',
		},
		{
			displayName: 'Payment Methods',
			name: 'paymentMethods',
			type: 'multiOptions',
			options: PAYMENT_METHOD_OPTIONS,
			default: ['pix'],
			description: 'Only transactions paid in one of these ways',
		},
		{
			displayName: 'Product Hashes',
			name: 'productHashes',
			type: 'string',
			default: '',
			placeholder: 'e.g. prodab12cd, prod34efgh',
			description: 'Only transactions of these products; hashes separated by commas',
		},
	],
};

/** A list, also as a text with commas; blanks and empty places are dropped. */
export const listField = z
	.union([z.array(z.string()), z.string()], {
		errorMap: () => ({ message: 'must be a list, separated by commas' }),
	})
	.transform((value) => (typeof value === 'string' ? value.split(',') : value))
	.transform((values) => values.map((value) => value.trim()).filter((value) => value !== ''));

/** A blank within a hash is a missing comma, or a placeholder that nobody has replaced. */
const hashesField = required(
	z
		.union([z.number().transform(String), z.unknown()])
		.pipe(listField)
		.superRefine((hashes, context) => {
			const odd = hashes.find((hash) => /\s/.test(hash));
			const message =
				hashes.length === 0
					? 'has no hash in it; enter one, or remove the filter'
					: `holds "${odd}", which is not a hash; enter hashes separated by commas`;
			if (hashes.length === 0 || odd !== undefined) context.addIssue({ code: 'custom', message });
		}),
);

const filtersSchema = z.object({
	/** In integer cents. */
	minimumAmount: required(moneyField('reais')).optional(),
	offerHashes: hashesField.optional(),
	paymentMethods: listField.optional(),
	productHashes: hashesField.optional(),
});

const schema = z.object({ filters: z.preprocess(withBlanks, filtersSchema) });

/** A filter whose expression gives nothing is there all the same. */
function withBlanks(filters: unknown): unknown {
	if (!isJsonObject(filters)) return filters;
	return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, value ?? null]));
}

export type Filters = z.output<typeof filtersSchema>;

/**
 * Reads the filters of the trigger. One that is there and cannot be read was meant to keep something
 * out, so it never counts as none.
 *
 * @throws NodeOperationError that names the filter by its display name and what to change
 */
export function readFilters(context: IHookFunctions | IWebhookFunctions): Filters {
	const result = schema.safeParse({ filters: context.getNodeParameter('filters', {}) });
	if (result.success) return result.data.filters;
	const node = context.getNode();
	const problems = result.error.issues.map(
		({ path, message }) => `${displayPath([filtersProperty], path, node)} ${message}`,
	);
	throw new NodeOperationError(node, problems.join('. '), {
		description: 'Correct it, then publish the workflow, or listen for a test event, again.',
	});
}
