import { upperFirst } from 'lodash';
import { z } from 'zod/v3';
import {
	allowBlank,
	customFieldsField,
	defineField,
	defineForm,
	defineGroup,
	defineList,
	type FormValues,
	moneyField,
	percentSchema,
	productLocator,
	rejectBlank,
	textField,
	textSchema,
	wholeNumberSchema,
	yesNoField,
} from '../../form';

const PAYMENT_METHOD_OPTIONS = [
	{ name: 'Boleto', value: 2 },
	{ name: 'Card', value: 1 },
	{ name: 'PIX', value: 3 },
];
const INTERVALS = ['daily', 'monthly', 'quarterly', 'semi-annual', 'weekly', 'yearly'] as const;
const methodCode = wholeNumberSchema(1);

const discounts = defineList(
	'Payment Method Discounts',
	'paymentMethodDiscounts',
	{
		placeholder: 'Add Discount',
		description: 'Discounts for certain payment methods',
		sentAs: 'payment_method_discounts',
		entryName: 'Discount',
	},
	[
		defineField({
			displayName: 'Payment Method',
			name: 'paymentMethod',
			type: 'string',
			default: 'pix',
			placeholder: 'e.g. credit_card',
			description: 'The name of the method on your platform: pix, credit_card or another',
			purpose: 'decides',
			sentAs: 'payment_method',
			reads: rejectBlank(textSchema),
		}),
		defineField({
			displayName: 'Discount Percentage',
			name: 'discountPercentage',
			type: 'number',
			typeOptions: { minValue: 0, maxValue: 100, numberPrecision: 2 },
			default: 0,
			description: 'Percent off the price, for example 5 or 7.5',
			purpose: 'decides',
			sentAs: 'discount_percentage',
			reads: percentSchema,
		}),
	],
);

export const offerForm = defineForm([
	productLocator,
	textField('Title', 'title', {
		placeholder: 'e.g. Black Friday',
		description: 'The name of the offer',
		sentAs: 'title',
		reads: allowBlank(textSchema),
	}),
	moneyField('Price in Reais', 'price', { description: 'The price of the offer', sentAs: 'price' }),
	defineField({
		displayName: 'Payment Methods',
		name: 'paymentMethods',
		type: 'multiOptions',
		options: PAYMENT_METHOD_OPTIONS,
		default: [3],
		description: 'How customers can pay',
		purpose: 'decides',
		sentAs: 'payment_methods',
		reads: allowBlank(z.array(methodCode, { message: 'must be a list of 1, 2 and 3' })),
	}),
	defineGroup('Additional Fields', 'additionalFields', { placeholder: 'Add Field' }, [
		customFieldsField,
		defineField({
			displayName: 'Default Method',
			name: 'methodDefault',
			type: 'options',
			options: PAYMENT_METHOD_OPTIONS,
			default: 3,
			description: 'The payment method selected when the checkout opens',
			purpose: 'decides',
			sentAs: 'method_default',
			reads: allowBlank(methodCode),
		}),
		defineField({
			displayName: 'Interval',
			name: 'interval',
			type: 'options',
			options: INTERVALS.map((value) => ({
				name: value.split('-').map(upperFirst).join('-'),
				value,
			})),
			default: 'monthly',
			description: 'How often a subscription is charged. Needed only for subscription products.',
			purpose: 'decides',
			sentAs: 'interval',
			reads: allowBlank(
				textSchema.pipe(z.enum(INTERVALS, { message: `must be one of ${INTERVALS.join(', ')}` })),
			),
		}),
		discounts,
		yesNoField('Visible to Affiliates', 'affiliatesVisible', {
			description: 'Whether affiliates see the offer in the marketplace',
			sentAs: 'affiliates_visible',
		}),
	]),
]);

export type OfferForm = FormValues<typeof offerForm>;
