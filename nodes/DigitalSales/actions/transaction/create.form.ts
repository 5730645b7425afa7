import { z } from 'zod';
import {
	cleanTextField,
	money,
	optional,
	optionalReferenceField,
	parsed,
	textField,
	webAddressField,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { customFieldsField } from '../../form/customFields';
import { deciding, field, formOf, type FormValues, group, guarding, list } from '../../form/formOf';
import {
	fieldsOption,
	qrCodeImage,
	repeatCodeOption,
	simplifyOption,
} from '../../form/outputOptions';
import { offerLocator } from '../../form/locators';
import { parseDocument } from '../../domain/document';
import { parsePhone } from '../../domain/phone';

const LONGEST_EMAIL = 254;
const EMAIL_SHAPE = /^[^\s@:;,<>]+@[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+$/u;

/** @internal Exported for its tests. */
export const emailField = cleanTextField.refine(
	(email) => email.length <= LONGEST_EMAIL && EMAIL_SHAPE.test(email),
	'is not an e-mail address',
);

/** The customer of Transaction > Create PIX. */
const customer = [
	deciding(
		{
			displayName: 'Customer Name',
			name: 'customerName',
			type: 'string',
			default: '',
			placeholder: 'e.g. Maria da Silva',
			description: 'Full name of the person or company that pays',
		},
		optional(textField),
		'customer.name',
	),
	deciding(
		{
			displayName: 'Customer Email',
			name: 'customerEmail',
			type: 'string',
			default: '',
			placeholder: 'e.g. maria@example.com',
			description: 'E-mail address of the customer',
		},
		optional(emailField),
		'customer.email',
	),
	deciding(
		{
			displayName: 'Customer Phone',
			name: 'customerPhone',
			type: 'string',
			default: '',
			placeholder: 'e.g. (11) 91234-5678',
			hint: 'Include the area code (DDD)',
			description: 'Phone number of the customer, with the area code',
		},
		optional(parsed(parsePhone)),
		'customer.phone_number',
	),
	deciding(
		{
			displayName: 'Customer CPF or CNPJ',
			name: 'customerDocument',
			type: 'string',
			default: '',
			placeholder: 'e.g. 529.982.247-25',
			hint: 'With or without punctuation',
			description:
				'CPF of the person or CNPJ of the company that pays. If it comes from a spreadsheet, format the column as text: a number loses its leading zeros.',
		},
		optional(parsed(parseDocument)),
		'customer.document',
	),
];

const more = group({ displayName: 'More', name: 'more', placeholder: 'Add Field' }, [
	field(
		{
			displayName: 'Cover URL',
			name: 'cover',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/cover.png',
			description:
				'Address of a picture of the item. If you leave it empty, it comes from the catalog whenever Price or Title is looked up there.',
		},
		optional(webAddressField),
		'cover',
	),
	deciding(
		{
			displayName: 'Operation Type',
			name: 'operationType',
			type: 'number',
			typeOptions: { numberPrecision: 0 },
			default: 1,
			description:
				'The code that the service uses for the type of sale. Its values are not documented.',
		},
		optional(wholeNumberField(0)).transform((type = 1) => type),
		'operation_type',
	),
	field(
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			placeholder: 'e.g. Curso de Fotografia',
			description:
				'The item name that the customer sees. If you leave it empty, it comes from the catalog.',
		},
		optional(textField),
		'title',
	),
]);

/** Above an entry in the editor: price and title of the offer that was picked, or what was typed for it. */
const OFFER_NAME =
	"={{ ($collection.item.value.offerHash.cachedResultName || $collection.item.value.offerHash.value).split(' · ', 2).join(' · ') }}";

/** The cart of Transaction > Create PIX. */
const cart = list(
	{
		displayName: 'Cart',
		name: 'cart',
		placeholder: 'Add Item',
		description: 'What the customer buys. The amount charged is the sum of its items.',
		typeOptions: { fixedCollection: { itemTitle: OFFER_NAME } },
	},
	{
		displayName: 'Item',
		name: 'items',
		// In the order in which a person fills them in.
		parts: [
			offerLocator,
			deciding(
				{
					displayName: 'Quantity',
					name: 'quantity',
					type: 'number',
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 1,
					description: 'How many units the customer buys',
				},
				optional(wholeNumberField(1)).transform((quantity = 1) => quantity),
				'quantity',
			),
			money(
				{
					name: 'price',
					label: 'Price',
					description: 'Unit price. If you leave it empty, it comes from the catalog.',
				},
				'price',
			),
			more,
		],
	},
	'cart',
);

const trackingValue = <const N extends string>(
	displayName: string,
	name: N,
	bodyName: string,
	description: string,
) =>
	field(
		{ displayName, name, type: 'string', default: '', description },
		optional(textField),
		bodyName,
	);

const tracking = group(
	{
		displayName: 'Tracking',
		name: 'tracking',
		placeholder: 'Add Tracking Value',
		description: 'Where the sale came from',
	},
	[
		trackingValue(
			'Source (Src)',
			'src',
			'src',
			'Where the customer came from, for example instagram',
		),
		trackingValue(
			'UTM Campaign',
			'utmCampaign',
			'utm_campaign',
			'The campaign, for example black-friday',
		),
		trackingValue(
			'UTM Content',
			'utmContent',
			'utm_content',
			'Which version of the advertisement it was',
		),
		trackingValue(
			'UTM Medium',
			'utmMedium',
			'utm_medium',
			'The kind of advertisement, for example cpc',
		),
		trackingValue(
			'UTM Source',
			'utmSource',
			'utm_source',
			'The site that sent the customer, for example google',
		),
		trackingValue('UTM Term', 'utmTerm', 'utm_term', 'The search terms'),
	],
	'tracking',
);

const notify = [
	field(
		{
			displayName: 'Notify',
			name: 'notify',
			type: 'options',
			options: [
				{
					name: 'Automatic',
					value: 'automatic',
					description:
						'Wait for Payment if it follows, else the trigger of this workflow, else the Notification URL of the credential',
				},
				{
					name: 'Trigger of This Workflow',
					value: 'trigger',
					description:
						'The Digital Sales Trigger in the same workflow, published. Not for a charge that this trigger starts: each payment would charge again.',
				},
				{
					name: 'Another Address',
					value: 'url',
					description: 'An address that you enter here, such as the URL of another trigger',
				},
				{
					name: 'Nobody',
					value: 'none',
					description: 'No webhooks are requested for this charge',
				},
			],
			default: 'automatic',
			description: 'Who to notify when the payment status changes',
		},
		z.enum(['automatic', 'trigger', 'url', 'none'], {
			message: 'must be automatic, trigger, url or none',
		}),
	),
	field(
		{
			displayName: 'Notification URL',
			name: 'notificationUrl',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://n8n.example.com/webhook/.../digital-sales',
			description:
				'The address that the service sends webhooks to; it must start with http:// or https://',
			displayOptions: { show: { notify: ['url'] } },
		},
		optional(textField),
		'webhook_url',
	),
];

const orderReference = guarding(
	{
		displayName: 'Order Reference',
		name: 'orderReference',
		type: 'string',
		default: '',
		placeholder: 'e.g. order-1001',
		description:
			'Your own name for this order, so that it is charged once even if it comes again. Not sent to the service.',
	},
	optionalReferenceField,
);

const additionalFields = group(
	{ displayName: 'Additional Fields', name: 'additionalFields', placeholder: 'Add Field' },
	[
		money(
			{
				name: 'amount',
				label: 'Amount',
				description: 'The total to charge. If you leave it out, the sum of the cart is charged.',
			},
			'amount',
		),
		customFieldsField,
		tracking,
	],
);

const allowPriceMismatch = field(
	{
		displayName: 'Allow Price Mismatch',
		name: 'allowPriceMismatch',
		type: 'boolean',
		default: false,
		description:
			'Whether to charge even if a price is exactly 100 times the price in the catalog, or a hundredth of it. Unless you turn this on, the node refuses, because reais and cents were probably mixed up. The same applies to Amount and the sum of the cart.',
	},
	optional(yesNoField),
);

const options = group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
	allowPriceMismatch,
	repeatCodeOption(
		'Code to Charge Again',
		"The code from the error for a charge that may already have been made. Enter it only if you have checked the service's dashboard and the charge is not there. It allows that one charge.",
	),
	fieldsOption,
]);

/** The form of Transaction > Create PIX, and the body of POST /transactions (API document, Endpoint 3). */
export const chargeForm = formOf([
	cart,
	...customer,
	orderReference,
	...notify,
	qrCodeImage,
	simplifyOption,
	additionalFields,
	options,
]);

export type ChargeForm = FormValues<typeof chargeForm>;
