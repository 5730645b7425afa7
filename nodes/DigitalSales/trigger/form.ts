import type { IHookFunctions, INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import type { Transaction } from '../api/schemas/transaction';
import { bounded } from '../form/bounded';
import { displayPath } from '../form/displayPath';
import { yesNoField } from '../form/fields';
import { transactionFieldsSchema } from '../output/transaction';
import { fieldsOption, simplifyOption } from '../form/outputOptions';
import { filtersField, filtersProperty, soldFields, soldProperties, whyFiltered } from './filters';
import {
	statusSchema,
	statusParameters,
	triggerOnProperties,
	whyStatusUnwanted,
} from './triggerOn';

/** The form of the trigger node. */
export const triggerProperties: INodeProperties[] = [
	{
		displayName:
			'Copy the production URL under Webhook URLs to where the service asks for a webhook. Create PIX in this workflow finds it automatically.<br><b>Products</b> empty: every sale starts this workflow, of any product at any price. Choose yours before you deliver anything.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
	...triggerOnProperties,
	...soldProperties,
	...simplifyOption.properties,
	filtersProperty,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			...fieldsOption.properties,
			{
				displayName: 'Test With Transaction',
				name: 'testTransaction',
				type: 'string',
				// A broken expression would stop the published workflow, too.
				noDataExpression: true,
				default: '',
				placeholder: 'e.g. tran12ab34',
				description:
					'The hash of a transaction that arrives as soon as you press Execute step, without a new sale and without a public address. It has no effect on the published workflow.',
			},
		],
	},
];

const formSchema = statusSchema.extend({
	...soldFields,
	filters: filtersField,
	simplify: yesNoField,
	options: z.object({ fields: transactionFieldsSchema }),
});

export type TriggerForm = z.output<typeof formSchema>;

/** Which transactions start the workflow. */
export type Wanted = Omit<TriggerForm, 'simplify' | 'options'>;

/**
 * Reads the form.
 *
 * @throws NodeOperationError if a field is unreadable, since neither everything nor nothing is wanted
 * then; or in n8n's Engine 2.0, which never runs `execute`, where a sale is started only once
 */
export function readTriggerForm(context: IHookFunctions | IWebhookFunctions): TriggerForm {
	const node = context.getNode();
	if (context.getWorkflowSettings().engineType === 'v2') {
		throw new NodeOperationError(
			node,
			"Digital Sales Trigger does not work in n8n's experimental Engine 2.0",
			{ description: 'Remove engineType from the settings of the workflow, then publish it.' },
		);
	}
	const result = bounded(formSchema).safeParse({
		...statusParameters(context),
		products: context.getNodeParameter('products', {}),
		offers: context.getNodeParameter('offers', {}),
		filters: context.getNodeParameter('filters', {}),
		simplify: context.getNodeParameter('simplify', true),
		options: context.getNodeParameter('options', {}),
	});
	if (result.success) return result.data;
	const problems = result.error.issues.map(
		({ path, message }) => `${displayPath(triggerProperties, path, node)} ${message}`,
	);
	throw new NodeOperationError(node, problems.join('. '), {
		description: 'Correct it, then publish the workflow or listen for a test event again.',
	});
}

/**
 * Why Trigger On or the filters reject a transaction, in the words of the form; undefined if they
 * accept it. The text describes the transaction, so only the owner of the form may see it.
 */
export function whyUnwanted(wanted: Wanted, transaction: Transaction): string | undefined {
	return (
		whyStatusUnwanted(wanted, transaction.payment_status ?? '') ?? whyFiltered(wanted, transaction)
	);
}
