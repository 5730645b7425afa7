import type { INodeProperties } from 'n8n-workflow';
import { PAYMENT_METHOD_CODES } from '../../api/schemas/offer';
import { amountUnitOption, moneyProperties } from '../../form/amountUnit';
import { customFieldsProperty } from '../../form/customFields';
import { productLocator } from '../../form/locators';
import { repeatCodeOption, timeoutOption, writingOptions } from '../../form/requestOptions';

const PAYMENT_METHOD_OPTIONS = [
	{ name: 'Boleto', value: PAYMENT_METHOD_CODES.boleto },
	{ name: 'Card', value: PAYMENT_METHOD_CODES.card },
	{ name: 'PIX', value: PAYMENT_METHOD_CODES.pix },
];

/** The form of Offer > Create. */
export const offerProperties: INodeProperties[] = [
	productLocator({ required: true, description: 'The product that the offer sells' }),
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		placeholder: 'e.g. Black Friday',
		description: 'The name of the offer',
	},
	...moneyProperties({ name: 'price', label: 'Price', description: 'The price of the offer' }),
	{
		displayName: 'Payment Methods',
		name: 'paymentMethods',
		type: 'multiOptions',
		options: PAYMENT_METHOD_OPTIONS,
		default: [3],
		description: 'How customers can pay',
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
				description: 'The payment method selected when the checkout opens',
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
				description: 'Discounts for certain payment methods',
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
								description: 'The name that your service uses for this payment method',
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
		options: [
			amountUnitOption,
			repeatCodeOption(
				'Code to Create Again',
				"The code from the error for an offer that may already exist. Enter it only if you have checked the service's dashboard and the offer is not there. It allows that one offer.",
			),
			...writingOptions,
			timeoutOption,
		],
	},
];
