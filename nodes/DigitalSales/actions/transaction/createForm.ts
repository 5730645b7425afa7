import type { INodeProperties } from 'n8n-workflow';
import { amountUnitOption, moneyProperties, outputUnitOption } from '../../form/amountUnit';
import { fillFromCatalogOption } from '../../form/catalogOption';
import { customFieldsProperty } from '../../form/customFields';
import { qrCodeNotice, qrCodeOptions } from '../../form/qrCodeOptions';
import { repeatCodeOption, timeoutOption, writingOptions } from '../../form/requestOptions';
import { cartProperty } from './cartForm';
import { simplifyProperty } from '../../form/simplifyProperty';

const tracking: INodeProperties = {
	displayName: 'Tracking',
	name: 'tracking',
	type: 'collection',
	placeholder: 'Add Tracking Value',
	default: {},
	description: 'Where the sale came from',
	options: [
		{
			displayName: 'Source (Src)',
			name: 'src',
			type: 'string',
			default: '',
			description: 'Where the customer came from, for example instagram',
		},
		{
			displayName: 'UTM Campaign',
			name: 'utmCampaign',
			type: 'string',
			default: '',
			description: 'The campaign, for example black-friday',
		},
		{
			displayName: 'UTM Content',
			name: 'utmContent',
			type: 'string',
			default: '',
			description: 'Which version of the advertisement it was',
		},
		{
			displayName: 'UTM Medium',
			name: 'utmMedium',
			type: 'string',
			default: '',
			description: 'The kind of advertisement, for example cpc',
		},
		{
			displayName: 'UTM Source',
			name: 'utmSource',
			type: 'string',
			default: '',
			description: 'The site that sent the customer, for example google',
		},
		{
			displayName: 'UTM Term',
			name: 'utmTerm',
			type: 'string',
			default: '',
			description: 'The search terms',
		},
	],
};

/** The form of Transaction > Create PIX. */
export const createProperties: INodeProperties[] = [
	cartProperty,
	{
		displayName: 'Customer Name',
		name: 'customerName',
		type: 'string',
		default: '',
		placeholder: 'e.g. Maria da Silva',
		description: 'Full name of the person or company that pays',
	},
	{
		displayName: 'Customer Email',
		name: 'customerEmail',
		type: 'string',
		default: '',
		placeholder: 'e.g. maria@example.com',
		description: 'E-mail address of the customer',
	},
	{
		displayName: 'Customer Phone',
		name: 'customerPhone',
		type: 'string',
		default: '',
		placeholder: 'e.g. (11) 91234-5678',
		description: 'Phone number with area code (DDD); punctuation is removed',
	},
	{
		displayName: 'Customer Document',
		name: 'customerDocument',
		type: 'string',
		default: '',
		placeholder: 'e.g. 529.982.247-25',
		hint: 'CPF or CNPJ, with or without punctuation',
		description:
			'CPF of the person or CNPJ of the company that pays. Send it as text: a number loses its leading zeros.',
	},
	{
		displayName: 'Notify',
		name: 'notify',
		type: 'options',
		options: [
			{
				name: 'Address From the Credential',
				value: 'credential',
				description: 'The Notification URL of the credential',
			},
			{
				name: 'Another Address',
				value: 'url',
				description: 'An address that you enter here',
			},
			{
				name: 'Nobody',
				value: 'none',
				description: 'The service sends no notifications',
			},
			{
				name: 'This Execution',
				value: 'thisExecution',
				description: 'Transaction > Wait for Payment, later in this workflow',
			},
			{
				name: 'Trigger of This Workflow',
				value: 'trigger',
				description: 'The published Digital Sales Trigger in the same workflow',
			},
		],
		default: 'none',
		description: 'Who to notify when the payment status changes',
	},
	{
		displayName: 'Notification URL',
		name: 'notificationUrl',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://n8n.example.com/webhook/.../digital-sales',
		description:
			'The address that the service posts updates to; it must start with http:// or https://',
		displayOptions: { show: { notify: ['url'] } },
	},
	simplifyProperty,
	qrCodeNotice,
	{
		displayName: 'Additional Fields',
		name: 'additionalFields',
		type: 'collection',
		placeholder: 'Add Field',
		default: {},
		options: [
			...moneyProperties({
				name: 'amount',
				label: 'Amount',
				description: 'The total to charge. If you leave it out, the sum of the cart is charged.',
			}),
			customFieldsProperty,
			{
				displayName: 'Installments',
				name: 'installments',
				type: 'number',
				typeOptions: { minValue: 1, numberPrecision: 0 },
				default: 1,
				description: 'Number of installments; 1 for PIX',
			},
			{
				displayName: 'Order Reference',
				name: 'orderReference',
				type: 'string',
				default: '',
				placeholder: 'e.g. order-1001',
				description:
					'Your own name for this order. This node charges it once: if asked again, it returns the existing transaction, or an error if it no longer knows that transaction. The name is not sent to the service.',
			},
			tracking,
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
			{
				displayName: 'Check Customer Data',
				name: 'checkCustomer',
				type: 'boolean',
				default: true,
				description:
					'Whether to check e-mail, phone and the check digits of the CPF or CNPJ before sending. The service checks them in any case.',
			},
			repeatCodeOption(
				'Code to Charge Again',
				"The code from the error for a charge that may already have been made. Enter it only if you have checked the service's dashboard and the charge is not there. It allows that one charge.",
			),
			fillFromCatalogOption,
			...writingOptions,
			...qrCodeOptions,
			outputUnitOption,
			{ ...timeoutOption, default: 120 },
		],
	},
];
