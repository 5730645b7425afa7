import { compact, map, snakeCase } from 'lodash';
import type { DisplayCondition } from 'n8n-workflow';
import { z } from 'zod/v3';
import {
	allowBlank,
	chargeFieldsOption,
	cleanTextSchema,
	customFieldsField,
	defineField,
	defineForm,
	defineGroup,
	defineItemCustomFields,
	defineList,
	defineOptions,
	type FieldSpec,
	firstTextSchema,
	type FormValues,
	hashSchema,
	moneyField,
	offerLocator,
	parseWith,
	qrCodeImageOption,
	rejectBlank,
	simplifyField,
	textField,
	textSchema,
	webAddressSchema,
	wholeNumberSchema,
	withDefault,
	yesNoField,
} from '../../form';
import { parseDocument, parseEmail, parsePhone, typedText } from '../../domain';

/** Required, unless Custom Fields may bring the customer: then n8n shows the field without its mark. */
function neededField<const N extends string, S extends z.ZodTypeAny>(
	displayName: string,
	name: N,
	spec: FieldSpec & { reads: S },
) {
	const exists: DisplayCondition = { _cnd: { exists: true } };
	const hasCustomFields = { '/additionalFields.customFields': [exists] };
	const whenRequired = { required: true, displayOptions: { hide: hasCustomFields } };
	const whenOptional = { displayOptions: { show: hasCustomFields } };

	return [
		textField(displayName, name, { ...spec, ...whenRequired, purpose: 'decides' }),
		textField(displayName, name, { ...spec, ...whenOptional }).property,
	] as const;
}

const customer = [
	...neededField('Customer Name', 'customerName', {
		placeholder: 'e.g. Maria da Silva',
		description: 'Full name of the person or company that pays',
		sentAs: 'customer.name',
		reads: allowBlank(textSchema.transform(typedText)),
	}),
	...neededField('Customer Email', 'customerEmail', {
		placeholder: 'e.g. maria@example.com',
		description: 'E-mail address of the customer',
		sentAs: 'customer.email',
		reads: allowBlank(parseWith(parseEmail)),
	}),
	textField('Customer Phone', 'customerPhone', {
		placeholder: 'e.g. (11) 91234-5678',
		hint: 'Include the area code (DDD)',
		description: 'Phone number of the customer, with the area code',
		purpose: 'decides',
		sentAs: 'customer.phone_number',
		reads: allowBlank(parseWith(parsePhone)),
	}),
	...neededField('Customer CPF or CNPJ', 'customerDocument', {
		placeholder: 'e.g. 529.982.247-25',
		description:
			'CPF of the person or CNPJ of the company that pays. If it comes from a spreadsheet, format the column as text: a number loses its leading zeros.',
		sentAs: 'customer.document',
		reads: allowBlank(parseWith(parseDocument)),
	}),
];

const itemDetails = [
	textField('Title', 'title', {
		purpose: 'informs',
		placeholder: 'e.g. Curso de Fotografia',
		description:
			'The item name that the customer sees. If you leave it empty, it comes from the catalog.',
		sentAs: 'title',
		reads: allowBlank(textSchema),
	}),
	textField('Cover URL', 'cover', {
		placeholder: 'e.g. https://example.com/cover.png',
		description:
			'Address of a picture of the item. If you leave it empty, it comes from the catalog whenever Price or Title is looked up there.',
		sentAs: 'cover',
		reads: allowBlank(webAddressSchema),
	}),
	defineField({
		displayName: 'Operation Type',
		name: 'operationType',
		type: 'number',
		typeOptions: { numberPrecision: 0 },
		default: 1,
		description:
			'The code of the type of sale. It is not documented; on one platform, 1 is a sale, 2 an order bump, 3 an upsell.',
		purpose: 'decides',
		sentAs: 'operation_type',
		reads: withDefault(wholeNumberSchema(0), 1),
	}),
];

const itemFields = [
	offerLocator,
	defineField({
		displayName: 'Quantity',
		name: 'quantity',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1,
		description: 'How many units the customer buys',
		purpose: 'decides',
		sentAs: 'quantity',
		reads: withDefault(wholeNumberSchema(1), 1),
	}),
	moneyField('Price in Reais', 'price', {
		hint: "Leave empty for the offer's price",
		description: 'Price of one unit. 97 is R$ 97,00. If your data is in cents, divide it by 100.',
		sentAs: 'price',
	}),
];

const more = defineGroup('More', 'more', { placeholder: 'Add Field' }, [
	...itemDetails,
	defineItemCustomFields(compact(map([...itemFields, ...itemDetails], 'sentAs'))),
]);

const OFFER_NAME =
	'={{ $collection.item.value.offerHash.cachedResultName || $collection.item.value.offerHash.value }}';

const cart = defineList(
	'Cart',
	'cart',
	{
		placeholder: 'Add Item',
		description: 'What the customer buys. The amount charged is the sum of its items.',
		typeOptions: { fixedCollection: { itemTitle: OFFER_NAME } },
		default: { items: [{}] },
		sentAs: 'cart',
		entryName: 'Item',
	},
	[...itemFields, more],
);

const tracking = defineGroup(
	'Tracking',
	'tracking',
	{
		placeholder: 'Add Tracking Value',
		description: 'Where the sale came from',
		sentAs: 'tracking',
	},
	[
		trackingField('src', 'Source (Src)', 'Where the customer came from, for example instagram'),
		trackingField('utmCampaign', 'UTM Campaign', 'The campaign, for example black-friday'),
		trackingField('utmContent', 'UTM Content', 'Which version of the advertisement it was'),
		trackingField('utmMedium', 'UTM Medium', 'The kind of advertisement, for example cpc'),
		trackingField('utmSource', 'UTM Source', 'The site that sent the customer, for example google'),
		trackingField('utmTerm', 'UTM Term', 'The search terms'),
	],
);

function trackingField(name: string, displayName: string, description: string) {
	const use = { purpose: 'informs', sentAs: snakeCase(name), reads: firstTextSchema } as const;

	return textField(displayName, name, { description, ...use });
}

const webhooks = [
	defineField({
		displayName: 'Webhooks Go To',
		name: 'webhooksGoTo',
		type: 'options',
		options: [
			{
				name: 'Automatic',
				value: 'automatic',
				description:
					"The Wait for Payment that follows, else the trigger, else the credential's URL",
			},
			{
				name: 'Trigger of This Workflow',
				value: 'trigger',
				description: 'Not for charges that it starts itself: each payment would charge again',
			},
			{
				name: 'Another Address',
				value: 'url',
				description: 'The Notification URL that you add, such as that of another trigger',
			},
			{ name: 'Nobody', value: 'none', description: 'No webhooks are requested for this charge' },
		],
		default: 'automatic',
		description:
			'Where the platform reports the payment. Automatic finds Wait for Payment or the trigger.',
		reads: z
			.enum(['automatic', 'trigger', 'url', 'none'], {
				message: 'must be automatic, trigger, url or none',
			})
			.default('automatic'),
	}),
	textField('Notification URL', 'notificationUrl', {
		placeholder: 'e.g. https://n8n.example.com/webhook/.../digital-sales',
		description:
			'The address that the platform sends webhooks to; it must start with http:// or https://',
		displayOptions: { show: { webhooksGoTo: ['url'] } },
		sentAs: 'webhook_url',
		reads: allowBlank(textSchema),
	}),
];

const additionalFields = defineGroup(
	'Additional Fields',
	'additionalFields',
	{ placeholder: 'Add Field' },
	[customFieldsField, tracking],
);

const chargesInDoubt = defineList(
	'Charges in Doubt',
	'chargesInDoubt',
	{
		placeholder: 'Add Decision',
		description:
			'What you have found about charges without a clear answer. An entry acts only on the charge that it names, and only while that is in doubt.',
		entryName: 'Decision',
	},
	[
		textField('Order or Customer', 'orderOrCustomer', {
			placeholder: 'e.g. order-1001',
			description:
				"As the error says: the Order Reference, otherwise the customer's CPF, CNPJ, e-mail or phone",
			purpose: 'confirms',
			reads: rejectBlank(cleanTextSchema),
		}),
		textField('Hash', 'hash', {
			placeholder: 'e.g. ab12cd34ef',
			description:
				'The hash of the charge, if it is on your platform. Leave it empty if the charge is not there: then it is made again.',
			purpose: 'confirms',
			reads: allowBlank(hashSchema),
		}),
	],
);

const options = defineOptions([
	yesNoField('Allow Price Mismatch', 'allowPriceMismatch', {
		description:
			"Whether to accept a price 100 times higher or lower than the catalog's, which usually means that cents were typed as reais",
	}),
	chargesInDoubt,
	chargeFieldsOption,
	qrCodeImageOption,
	...webhooks,
]);

export const chargeForm = defineForm([
	cart,
	...customer,
	textField('Order Reference', 'orderReference', {
		placeholder: 'e.g. order-1001',
		hint: 'The same reference is charged once',
		description:
			'Your own name for this order, such as its number in your shop. Not sent to the platform.',
		purpose: 'guards',
		reads: allowBlank(cleanTextSchema),
	}),
	simplifyField,
	additionalFields,
	options,
]);

export type ChargeForm = FormValues<typeof chargeForm>;
