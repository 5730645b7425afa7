import type {
	IExecuteFunctions,
	IHookFunctions,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { outputUnitField, outputUnitOption } from '../form/amountUnit';
import { displayPath } from '../form/displayPath';
import { required } from '../form/fields';
import { simplifyProperty } from '../form/simplifyProperty';
import {
	filledListField,
	filtersField,
	filtersProperty,
	listField,
	PAYMENT_METHOD_OPTIONS,
} from './filterForm';

/** Values of Trigger On beside the groups of statuses. */
export const OTHER = 'other';
export const ANY = 'any';

const SUBTITLE_WORDS = {
	[ANY]: 'any status change',
	[OTHER]: 'selected statuses',
	reversed: 'refunded',
	failed: 'refused',
	waiting: 'waiting for payment',
};

/** Under the trigger on the canvas: what starts the workflow. */
export const triggerSubtitle = `={{ "on " + $parameter["triggerOn"].map((status) => (${JSON.stringify(SUBTITLE_WORDS)})[status] ?? status).join(", ") }}`;

const TRIGGER_ON_OPTIONS: INodePropertyOptions[] = [
	{
		name: 'Any Status',
		value: ANY,
		action: 'On any status change',
		description: 'Every status change, including to statuses not listed here',
	},
	{
		name: 'Other',
		value: OTHER,
		action: 'On selected statuses',
		description: 'Statuses that you enter yourself',
	},
	{
		name: 'Paid',
		value: 'paid',
		action: 'On transaction paid',
		description: 'The money has arrived',
	},
	{
		name: 'Refunded or Charged Back',
		value: 'reversed',
		action: 'On transaction refunded or charged back',
		description: 'The money was returned, or is about to be',
	},
	{
		name: 'Refused, Canceled or Expired',
		value: 'failed',
		action: 'On transaction refused, canceled or expired',
		description: 'The customer can no longer pay this transaction',
	},
	{
		name: 'Waiting for Payment',
		value: 'waiting',
		action: 'On transaction waiting for payment',
		description: 'Created, under review or authorized, but not paid',
	},
];

/** The form of the trigger node. */
export const triggerProperties: INodeProperties[] = [
	{
		displayName:
			'Once the workflow is published, Create PIX in the same workflow finds this trigger automatically (Notify: Trigger of This Workflow). For other workflows, copy the production URL (expand Webhook URLs above) into the Notification URL of the credential.',
		name: 'addressNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Trigger On',
		name: 'triggerOn',
		type: 'multiOptions',
		options: TRIGGER_ON_OPTIONS,
		default: ['paid'],
		description: 'The payment statuses that start the workflow',
	},
	{
		displayName: 'Other Statuses',
		name: 'otherStatuses',
		type: 'string',
		default: '',
		placeholder: 'e.g. med_analysis, pre_chargeback',
		description: 'Payment statuses as the service writes them, separated by commas',
		displayOptions: { show: { triggerOn: [OTHER] } },
	},
	simplifyProperty,
	filtersProperty,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [
			{
				displayName: 'Emit Each Status Once',
				name: 'deduplicate',
				type: 'boolean',
				default: true,
				description:
					'Whether to start the workflow only once for each transaction and status, even if the service repeats its notification',
			},
			{
				displayName: 'Include Notification',
				name: 'includeNotification',
				type: 'boolean',
				default: false,
				description:
					'Whether to add the notification as it was received, in the field "notification". Nothing in it is verified.',
			},
			{
				displayName: 'Secret in the URL',
				name: 'urlSecret',
				type: 'boolean',
				noDataExpression: true,
				default: false,
				description:
					'Whether to create a secret when the workflow is published and reject every notification whose address lacks it. Create PIX in this workflow adds it automatically; for other workflows, copy the full address from the output of Notification > Get Address. Charges made before you turned this on lack the secret, so their notifications are rejected.',
			},
			outputUnitOption,
			{
				displayName: 'Verify With the Service',
				name: 'verify',
				type: 'boolean',
				noDataExpression: true,
				default: true,
				description:
					'Whether to read the transaction from the service before the workflow starts. Notifications are not signed: if you turn this off, anyone who knows the URL can report a payment that never happened. Items then carry verified: false.',
			},
		],
	},
];

const formSchema = z.object({
	simplify: z.boolean().catch(true),
	options: z
		.object({
			deduplicate: z.boolean().default(true),
			includeNotification: z.boolean().default(false),
			outputUnit: outputUnitField.catch('cents'),
			urlSecret: z.boolean().default(false),
			verify: z.boolean().default(true),
		})
		// A broken option must never switch verification off, or leave the lock open.
		.catch({ deduplicate: true, includeNotification: false, urlSecret: true, verify: true }),
});

export type TriggerForm = z.output<typeof formSchema>;

/**
 * Reads how the trigger works; whatever is broken or missing falls back to the safe default. What it
 * wants is read by {@link readWanted}.
 */
export function readTriggerForm(context: IWebhookFunctions): TriggerForm {
	return formSchema.parse({
		simplify: context.getNodeParameter('simplify', null),
		options: context.getNodeParameter('options', {}),
	});
}

const wantedSchema = z.object({
	triggerOn: required(
		filledListField.superRefine((values, context) => {
			const choices = TRIGGER_ON_OPTIONS.map(({ value }) => value);
			const unknown = values.find((value) => !choices.includes(value));
			if (unknown === undefined) return;
			const message = `contains "${unknown}", which is not one of its values: ${choices.join(', ')}`;
			context.addIssue({ code: 'custom', message });
		}),
	),
	/** Only where Trigger On has Other. */
	otherStatuses: required(filledListField).optional(),
	filters: filtersField,
});

/** Which transactions are to start the workflow. */
export type Wanted = z.output<typeof wantedSchema>;

/**
 * Reads Trigger On and the filters. Where they cannot be read nobody knows what is wanted: that is
 * neither everything nor nothing.
 *
 * @throws NodeOperationError that names the field by its display name and what to change
 */
export function readWanted(context: IHookFunctions | IWebhookFunctions): Wanted {
	const triggerOn = context.getNodeParameter('triggerOn', null) ?? null;
	const hasOther = listField.safeParse(triggerOn).data?.includes(OTHER);
	const otherStatuses = hasOther
		? (context.getNodeParameter('otherStatuses', null) ?? null)
		: undefined;
	const filters = context.getNodeParameter('filters', {});
	const result = wantedSchema.safeParse({ triggerOn, otherStatuses, filters });
	if (result.success) return result.data;
	const node = context.getNode();
	const problems = result.error.issues.map(
		({ path, message }) => `${displayPath(triggerProperties, path, node)} ${message}`,
	);
	throw new NodeOperationError(node, problems.join('. '), {
		description: 'Correct it, then publish the workflow or listen for a test event again.',
	});
}

/** Whether the trigger is to have a secret in its URL. */
export function wantsUrlSecret(context: IHookFunctions): boolean {
	return context.getNodeParameter('options.urlSecret', false) === true;
}

/** Whether each status of a transaction is to start the workflow once; so it is where the option is broken. */
export function isDeduplicating(context: IExecuteFunctions): boolean {
	return context.getNodeParameter('options.deduplicate', 0, true) !== false;
}

/** What Trigger On or the filter Payment Methods asks for, as the form names it. */
export function chosenNames(
	field: 'triggerOn' | 'paymentMethods',
	values: readonly string[],
): string {
	const options = field === 'triggerOn' ? TRIGGER_ON_OPTIONS : PAYMENT_METHOD_OPTIONS;
	return values
		.map((value) => options.find((option) => option.value === value)?.name ?? value)
		.join(', ');
}
