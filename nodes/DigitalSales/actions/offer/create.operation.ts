import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { createOffer } from '../../api/offers';
import { OFFER_INTERVALS, PAYMENT_METHOD_CODES } from '../../api/schemas/offer';
import { withoutBlanks } from '../../domain/blanks';
import { formatReais, type AmountUnit } from '../../domain/money';
import { amountUnitField, amountUnitOption } from '../../form/amountUnit';
import { customFieldsProperty, withCustomFields } from '../../form/customFields';
import {
	jsonObjectField,
	moneyField,
	optional,
	percentField,
	textField,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { locatorField, productLocator } from '../../form/locators';
import { readForm } from '../../form/readForm';
import {
	clientOptions,
	requestOptionsShape,
	timeoutOption,
	writingOptions,
} from '../../form/requestOptions';
import type { Operation } from '../operation';

const PAYMENT_METHOD_OPTIONS = [
	{ name: 'Boleto', value: PAYMENT_METHOD_CODES.boleto },
	{ name: 'Card', value: PAYMENT_METHOD_CODES.card },
	{ name: 'PIX', value: PAYMENT_METHOD_CODES.pix },
];

const properties: INodeProperties[] = [
	productLocator({ required: true, description: 'The product that the offer sells' }),
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		placeholder: 'e.g. Black Friday',
		description: 'The name of the offer',
	},
	{
		displayName: 'Price',
		name: 'price',
		type: 'string',
		default: '',
		placeholder: 'e.g. 1990',
		hint: 'In cents: 1990 is R$ 19,90. To type reais, set Options > Amount Unit.',
		description: 'The price of the offer',
	},
	{
		displayName: 'Payment Methods',
		name: 'paymentMethods',
		type: 'multiOptions',
		options: PAYMENT_METHOD_OPTIONS,
		default: [3],
		description: 'How a customer may pay',
	},
	{
		displayName: 'Additional Fields',
		name: 'additionalFields',
		type: 'collection',
		placeholder: 'Add Field',
		default: {},
		options: [
			customFieldsProperty,
			{
				displayName: 'Default Method',
				name: 'methodDefault',
				type: 'options',
				options: PAYMENT_METHOD_OPTIONS,
				default: 3,
				description: 'The payment method that is chosen when the checkout opens',
			},
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
			{
				displayName: 'Payment Method Discounts',
				name: 'paymentMethodDiscounts',
				type: 'fixedCollection',
				typeOptions: { multipleValues: true },
				placeholder: 'Add Discount',
				default: {},
				description: 'Discounts for customers who pay in a certain way',
				options: [
					{
						displayName: 'Discount',
						name: 'items',
						values: [
							{
								displayName: 'Payment Method',
								name: 'paymentMethod',
								type: 'options',
								options: [
									{ name: 'Card', value: 'credit_card' },
									{ name: 'Other', value: 'other' },
									{ name: 'PIX', value: 'pix' },
								],
								default: 'pix',
							},
							{
								displayName: 'Payment Method Name',
								name: 'paymentMethodName',
								type: 'string',
								default: '',
								description: 'The name that your service has for this payment method',
								displayOptions: { show: { paymentMethod: ['other'] } },
							},
							{
								displayName: 'Discount Percentage',
								name: 'discountPercentage',
								type: 'number',
								typeOptions: { minValue: 0, maxValue: 100, numberPrecision: 2 },
								default: 0,
								description: 'Percent off the price, for example 5 or 7.5',
							},
						],
					},
				],
			},
			{
				displayName: 'Visible to Affiliates',
				name: 'affiliatesVisible',
				type: 'boolean',
				default: false,
				description: 'Whether affiliates see the offer in the marketplace',
			},
		],
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [amountUnitOption, ...writingOptions, timeoutOption],
	},
];

const methodCode = wholeNumberField(1, 3);

const discountSchema = z
	.object({
		paymentMethod: textField,
		paymentMethodName: optional(textField),
		discountPercentage: percentField,
	})
	.transform(({ paymentMethod, paymentMethodName, discountPercentage }, context) => {
		if (paymentMethod === 'other' && paymentMethodName === undefined) {
			context.addIssue({
				code: 'custom',
				path: ['paymentMethodName'],
				message: 'is empty; fill it in',
			});
		}
		return {
			payment_method: paymentMethod === 'other' ? (paymentMethodName ?? '') : paymentMethod,
			discount_percentage: discountPercentage,
		};
	});

function formSchema(unit: AmountUnit) {
	return z.object({
		productHash: locatorField,
		title: optional(textField),
		price: optional(moneyField(unit)),
		paymentMethods: optional(z.array(methodCode, { message: 'must be a list of 1, 2 and 3' })),
		additionalFields: z.object({
			methodDefault: optional(methodCode),
			interval: optional(
				textField.pipe(
					z.enum(OFFER_INTERVALS, {
						message: `must be one of ${OFFER_INTERVALS.join(', ')}`,
					}),
				),
			),
			affiliatesVisible: optional(yesNoField),
			paymentMethodDiscounts: z.object({ items: z.array(discountSchema).optional() }).optional(),
			customFields: optional(jsonObjectField),
		}),
		options: z.object({ ...requestOptionsShape, amountUnit: amountUnitField }),
	});
}

/** Offer > Create: POST /products/{hash}/offers (API document, Endpoint 2). */
export const createOfferOperation: Operation = {
	name: 'Create',
	value: 'create',
	action: 'Create an offer',
	description: 'Create an offer of a product: its price and how it can be paid',
	properties,
	serviceFields: {
		title: 'title',
		price: 'price',
		payment_methods: 'paymentMethods',
		'payment_methods.*': 'paymentMethods',
		method_default: 'additionalFields.methodDefault',
		interval: 'additionalFields.interval',
		affiliates_visible: 'additionalFields.affiliatesVisible',
		payment_method_discounts: 'additionalFields.paymentMethodDiscounts',
		'payment_method_discounts.*.payment_method':
			'additionalFields.paymentMethodDiscounts.items.*.paymentMethod',
		'payment_method_discounts.*.discount_percentage':
			'additionalFields.paymentMethodDiscounts.items.*.discountPercentage',
	},
	itemsAtOnce: 1,
	prepare(context, itemIndex) {
		const unit = context.getNodeParameter('options.amountUnit', itemIndex, 'cents');
		const form = readForm(
			context,
			itemIndex,
			properties,
			formSchema(unit === 'reais' ? 'reais' : 'cents'),
		);
		const { productHash, title, price, paymentMethods, additionalFields: more, options } = form;
		const body: IDataObject = withCustomFields(
			withoutBlanks({
				title,
				price,
				payment_methods: paymentMethods,
				method_default: more.methodDefault,
				interval: more.interval,
				affiliates_visible: more.affiliatesVisible,
				payment_method_discounts: more.paymentMethodDiscounts?.items,
			}),
			more.customFields,
		);
		return {
			clientOptions: clientOptions(options),
			about: [
				`an offer of the product ${productHash}`,
				title === undefined ? undefined : `titled "${title}"`,
				price === undefined ? undefined : `at ${formatReais(price)}`,
			]
				.filter((part) => part !== undefined)
				.join(' '),
			async send({ client }) {
				return [{ json: await createOffer(client, productHash, body) }];
			},
		};
	},
};
