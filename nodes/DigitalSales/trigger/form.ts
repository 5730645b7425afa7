import type {
	IExecuteFunctions,
	IHookFunctions,
	INodeProperties,
	IWebhookFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { bounded } from '../form/bounded';
import { displayPath } from '../form/displayPath';
import { optional, yesNoField } from '../form/fields';
import { outputUnitField, outputUnitOption, simplifyOption } from '../form/outputOptions';
import type { Notice } from '../notice/parse';
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
			'Once the workflow is published, Create PIX in the same workflow finds this trigger automatically. For other workflows, run Notification > Get Address in this workflow and copy the URL that it shows into the Notification URL of the credential. Do not copy the one under Webhook URLs above: it lacks the secret.',
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
			{
				displayName: 'Ignore Duplicate Webhooks',
				name: 'deduplicate',
				type: 'boolean',
				default: true,
				description:
					'Whether to start the workflow only once for each transaction and status, even if the service repeats its webhook',
			},
			{
				displayName: 'Include Webhook Body',
				name: 'includeNotification',
				type: 'boolean',
				default: false,
				description:
					'Whether to add the body of the webhook, without tokens and without fields named like a secret, in the field "notification". Nothing in it is verified.',
			},
			{
				displayName: 'Secret in the URL',
				name: 'urlSecret',
				type: 'boolean',
				noDataExpression: true,
				default: false,
				description:
					'Whether to create a secret when the workflow is published and reject every webhook whose URL lacks it. Create PIX in this workflow adds it automatically; for other workflows, copy the full URL from the output of Notification > Get Address. Charges made before you turned this on lack the secret, so their webhooks are rejected.',
			},
			...outputUnitOption.properties,
			{
				displayName: 'Verify With the Service',
				name: 'verify',
				type: 'boolean',
				noDataExpression: true,
				default: true,
				description:
					'Whether to read the transaction from the service before the workflow starts. Webhooks are not signed: if you turn this off, anyone who knows the URL can report a payment that never happened. Items then carry verified: false.',
			},
		],
	},
];

const yesNo = (initial: boolean) => optional(yesNoField).transform((value = initial) => value);

const formSchema = statusSchema.extend({
	...soldFields,
	filters: filtersField,
	simplify: yesNoField,
	options: z.object({
		deduplicate: yesNo(true),
		includeNotification: yesNo(false),
		outputUnit: outputUnitField,
		urlSecret: yesNo(false),
		verify: yesNo(true),
	}),
});

export type TriggerForm = z.output<typeof formSchema>;

/** Which transactions start the workflow. */
export type Wanted = Omit<TriggerForm, 'simplify' | 'options'>;

/**
 * Reads the form.
 *
 * @throws NodeOperationError if a field is unreadable, since neither everything nor nothing is wanted then
 */
export function readTriggerForm(context: IHookFunctions | IWebhookFunctions): TriggerForm {
	const result = bounded(formSchema).safeParse({
		...statusParameters(context),
		products: context.getNodeParameter('products', {}),
		offers: context.getNodeParameter('offers', {}),
		filters: context.getNodeParameter('filters', {}),
		simplify: context.getNodeParameter('simplify', true),
		options: context.getNodeParameter('options', {}),
	});
	if (result.success) return result.data;
	const node = context.getNode();
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
export function whyUnwanted(wanted: Wanted, transaction: Notice): string | undefined {
	return whyStatusUnwanted(wanted, transaction.status ?? '') ?? whyFiltered(wanted, transaction);
}

/** Whether the trigger gets a secret in its URL. */
export function wantsUrlSecret(context: IHookFunctions): boolean {
	return yesNoField.catch(false).parse(context.getNodeParameter('options.urlSecret', false));
}

/** Whether each status starts the workflow only once; also if the option is broken. */
export function isDeduplicating(context: IExecuteFunctions): boolean {
	return yesNoField.catch(true).parse(context.getNodeParameter('options.deduplicate', 0, true));
}
