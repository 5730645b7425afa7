import { z } from 'zod';
import { money, optional, optionalReferenceField, textField, yesNoField } from '../../form/fields';
import { customFieldsField } from '../../form/customFields';
import { field, formOf, type FormValues, group, guarding } from '../../form/formOf';
import {
	fieldsOption,
	qrCodeImage,
	repeatCodeOption,
	simplifyOption,
} from '../../form/outputOptions';
import { cart } from './cart.form';
import { customer } from './customer.form';

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
