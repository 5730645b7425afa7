import { z } from 'zod';
import { OFFER_INTERVALS, PAYMENT_METHOD_CODES } from '../../api/schemas/offer';
import {
	money,
	optional,
	percentField,
	required,
	textField,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { customFieldsField } from '../../form/customFields';
import { deciding, field, formOf, group, list } from '../../form/formOf';
import { productLocator } from '../../form/locators';
import { repeatCodeOption } from '../../form/outputOptions';

const PAYMENT_METHOD_OPTIONS = [
	{ name: 'Boleto', value: PAYMENT_METHOD_CODES.boleto },
	{ name: 'Card', value: PAYMENT_METHOD_CODES.card },
	{ name: 'PIX', value: PAYMENT_METHOD_CODES.pix },
];
const methodCode = wholeNumberField(1, 3);

const discounts = list(
	{
		displayName: 'Payment Method Discounts',
		name: 'paymentMethodDiscounts',
		placeholder: 'Add Discount',
		description: 'Discounts for certain payment methods',
	},
	{
		displayName: 'Discount',
		name: 'items',
		parts: [
			deciding(
				{
					displayName: 'Payment Method',
					name: 'paymentMethod',
					type: 'string',
					default: 'pix',
					placeholder: 'e.g. credit_card',
					description: 'The name that the service uses for it: pix, credit_card or another',
				},
				required(textField),
				'payment_method',
			),
			deciding(
				{
					displayName: 'Discount Percentage',
					name: 'discountPercentage',
					type: 'number',
					typeOptions: { minValue: 0, maxValue: 100, numberPrecision: 2 },
					default: 0,
					description: 'Percent off the price, for example 5 or 7.5',
				},
				percentField,
				'discount_percentage',
			),
		],
	},
	'payment_method_discounts',
);

/** The form of Offer > Create, and the body of POST /products/{hash}/offers (API document, Endpoint 2). */
export const offerForm = formOf([
	productLocator,
	field(
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			placeholder: 'e.g. Black Friday',
			description: 'The name of the offer',
		},
		optional(textField),
		'title',
	),
	money({ name: 'price', label: 'Price', description: 'The price of the offer' }, 'price'),
	deciding(
		{
			displayName: 'Payment Methods',
			name: 'paymentMethods',
			type: 'multiOptions',
			options: PAYMENT_METHOD_OPTIONS,
			default: [3],
			description: 'How customers can pay',
		},
		optional(z.array(methodCode, { message: 'must be a list of 1, 2 and 3' })),
		'payment_methods',
	),
	group({ displayName: 'Additional Fields', name: 'additionalFields', placeholder: 'Add Field' }, [
		customFieldsField,
		deciding(
			{
				displayName: 'Default Method',
				name: 'methodDefault',
				type: 'options',
				options: PAYMENT_METHOD_OPTIONS,
				default: 3,
				description: 'The payment method selected when the checkout opens',
			},
			optional(methodCode),
			'method_default',
		),
		deciding(
			{
				displayName: 'Interval',
				name: 'interval',
				type: 'options',
				options: [
					{ name: 'Daily', value: 'daily' },
					{ name: 'Monthly', value: 'monthly' },
					{ name: 'Quarterly', value: 'quarterly' },
					{ name: 'Semi-Annual', value: 'semi-annual' },
					{ name: 'Weekly', value: 'weekly' },
					{ name: 'Yearly', value: 'yearly' },
				],
				default: 'monthly',
				description: 'How often a subscription is charged. Needed only for subscription products.',
			},
			optional(
				textField.pipe(
					z.enum(OFFER_INTERVALS, { message: `must be one of ${OFFER_INTERVALS.join(', ')}` }),
				),
			),
			'interval',
		),
		discounts,
		field(
			{
				displayName: 'Visible to Affiliates',
				name: 'affiliatesVisible',
				type: 'boolean',
				default: false,
				description: 'Whether affiliates see the offer in the marketplace',
			},
			optional(yesNoField),
			'affiliates_visible',
		),
	]),
	group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
		repeatCodeOption(
			'Code to Create Again',
			"The code from the error for an offer that may already exist. Enter it only if you have checked the service's dashboard and the offer is not there. It allows that one offer.",
		),
	]),
]);
