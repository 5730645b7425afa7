import {
	type IDataObject,
	type IExecuteFunctions,
	type IHookFunctions,
	type IWebhookFunctions,
	NodeOperationError,
} from 'n8n-workflow';
import { mapValues } from 'lodash';
import { z } from 'zod/v3';
import type { Transaction } from '../api';
import {
	allowBlank,
	checkForm,
	defineField,
	defineForm,
	defineGroup,
	defineOptions,
	type FormValues,
	moneySchema,
	OTHER,
	outputFieldsOption,
	parseTexts,
	parseWith,
	readValues,
	rejectBlank,
	simplifyField,
	soldOffers,
	soldProducts,
	textField,
	triggerOnField,
} from '../form';
import { isEngine2 } from '../n8n';
import { transactionOutput } from '../output';
import { isJsonObject } from '../shared';

const filters = defineGroup('Filters', 'filters', { placeholder: 'Add Filter' }, [
	soldOffers,
	textField('Minimum Amount in Reais', 'minimumAmount', {
		placeholder: 'e.g. 19,90',
		description:
			'Only transactions of this amount or more. Enter the lowest amount that a customer can pay, coupons and discounts included. A transaction without an amount does not start the workflow.',
		reads: rejectBlank(moneySchema).optional(),
	}),
	defineField({
		displayName: 'Payment Methods',
		name: 'paymentMethods',
		type: 'multiOptions',
		options: [
			{ name: 'Boleto', value: 'boleto' },
			{ name: 'Card', value: 'credit_card' },
			{ name: 'PIX', value: 'pix' },
		],
		default: [],
		description: 'Only transactions paid in one of these ways',
		reads: parseWith(parseTexts).optional(),
	}),
]);

const testTransaction = textField('Test With Transaction', 'testTransaction', {
	noDataExpression: true,
	placeholder: 'e.g. tran12ab34',
	description:
		'The hash of a transaction that arrives as soon as you press Execute step, without a new sale and without a public address. It has no effect on the published workflow.',
	// Checked only when it is used, because neither an expression nor a mistake in it may stop the published workflow.
	reads: z.unknown(),
});

export const triggerForm = defineForm([
	triggerOnField,
	textField('Other Statuses', 'otherStatuses', {
		placeholder: 'e.g. med_analysis, pre_chargeback',
		description: 'As the platform writes them, separated by commas',
		displayOptions: { show: { triggerOn: [OTHER] } },
		reads: allowBlank(parseWith(parseTexts)),
	}),
	{
		displayName:
			'If Products is empty, every sale of any product at any price starts this workflow. Choose your products before you deliver anything.',
		name: 'productsNotice',
		type: 'notice',
		default: '',
	},
	soldProducts,
	testTransaction,
	simplifyField,
	filters,
	defineOptions([outputFieldsOption]),
]);

export type TriggerForm = FormValues<typeof triggerForm>;

export function saleItem({ simplify, options }: TriggerForm, read: Transaction): IDataObject {
	return transactionOutput(read, { simplify, fields: options.fields });
}

type FormContext = IExecuteFunctions | IHookFunctions | IWebhookFunctions;

/**
 * A filter whose expression returns nothing is an error, because an empty filter would accept every sale.
 *
 * @throws NodeOperationError if a field cannot be read, or in Engine 2.0, which never runs `execute`
 */
export function readTriggerForm(context: FormContext): TriggerForm {
	const node = context.getNode();
	if (isEngine2(context)) {
		const problem = "Digital Sales Trigger does not work in n8n's experimental Engine 2.0";
		const description = 'Remove engineType from the settings of the workflow, then publish it.';
		throw new NodeOperationError(node, problem, { description });
	}

	const values = readValues(triggerForm, (name, initial) => {
		const value: unknown =
			'getExecuteData' in context
				? context.getNodeParameter(name, 0, initial)
				: context.getNodeParameter(name, initial);
		// Null, because undefined would count as no filter.
		return isJsonObject(value) ? mapValues(value, (inner) => inner ?? null) : value;
	});

	const { data, problems } = checkForm(triggerForm, values);
	const isOther = data?.triggerOn.includes(OTHER) === true;
	if (isOther && data.otherStatuses === undefined) {
		problems.push('Other Statuses is empty; fill it in');
	}
	if (data && problems.length === 0) return data;

	const description = 'Correct it, then publish the workflow or listen for a test event again.';
	throw new NodeOperationError(node, problems.join('. '), { description });
}
