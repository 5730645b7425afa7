import type {
	IHookFunctions,
	INodeProperties,
	INodePropertyOptions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { z } from 'zod';
import { isStatusGroup, STATUS_GROUPS } from '../domain/paymentStatus';
import { isSameText } from '../domain/text';
import { required } from '../form/fields';
import { filledListField, listField, optionNames, stated } from './filters';

/** Values of Trigger On that are not groups of statuses. */
const OTHER = 'other';
const ANY = 'any';

const SUBTITLE_WORDS = {
	[ANY]: 'any status change',
	[OTHER]: 'selected statuses',
	reversed: 'refunded',
	failed: 'refused',
	waiting: 'waiting for payment',
};

/** The text under the trigger on the canvas: what starts the workflow. */
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
		description:
			'A refund, a chargeback or a MED (the return of a PIX), even if it is only requested or under review',
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

/** The fields Trigger On and Other Statuses of the trigger node. */
export const triggerOnProperties: INodeProperties[] = [
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
];

const CHOICES = TRIGGER_ON_OPTIONS.map(({ value }) => value);
const isChoice = (value: string): boolean => CHOICES.includes(value);

/** The statuses that start the workflow. */
export const statusSchema = z.object({
	triggerOn: required(
		filledListField.refine(
			(values) => values.every(isChoice),
			(values) => ({
				message: `contains "${values.find((value) => !isChoice(value))}", which is not one of its values: ${CHOICES.join(', ')}`,
			}),
		),
	),
	/** Only if Trigger On includes Other. */
	otherStatuses: required(filledListField).optional(),
});

type Statuses = z.output<typeof statusSchema>;

/** The raw values of Trigger On and, if it asks for them, Other Statuses. */
export function statusParameters(
	context: IHookFunctions | IWebhookFunctions,
): Record<'triggerOn' | 'otherStatuses', unknown> {
	const read = (name: string): unknown => context.getNodeParameter(name, null) ?? null;
	const triggerOn = read('triggerOn');
	const hasOther = listField.safeParse(triggerOn).data?.includes(OTHER);
	return { triggerOn, otherStatuses: hasOther ? read('otherStatuses') : undefined };
}

/** Why Trigger On rejects a status, in the words of the form; undefined if it wants it. */
export function whyStatusUnwanted(wanted: Statuses, status: string): string | undefined {
	if (wantsStatus(wanted, status)) return undefined;
	const { triggerOn, otherStatuses = [] } = wanted;
	const groups = triggerOn.filter((value) => value !== OTHER);
	const names = [optionNames(TRIGGER_ON_OPTIONS, groups), ...otherStatuses];
	const asked = names.filter((name) => name !== '').join(', ');
	return `The status of the transaction is ${stated(status)}; Trigger On asks for ${asked}.`;
}

function wantsStatus({ triggerOn, otherStatuses }: Statuses, status: string): boolean {
	if (triggerOn.includes(ANY)) return true;
	if (otherStatuses?.some((other) => isSameText(other, status))) return true;
	return triggerOn.filter(isStatusGroup).some((group) => STATUS_GROUPS[group].includes(status));
}
