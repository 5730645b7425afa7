import sortBy from 'lodash/sortBy';
import startCase from 'lodash/startCase';
import {
	DEFAULT_FIELDS,
	TRANSACTION_FIELDS,
	transactionFieldsSchema,
	type TransactionField,
} from '../output/transaction';
import { optional, textField, yesNoField } from './fields';
import { field, type Field } from './formOf';

export const simplifyOption = field(
	{
		displayName: 'Simplify',
		name: 'simplify',
		type: 'boolean',
		default: true,
		description: 'Whether to return a simplified version of the response instead of the raw data',
	},
	yesNoField,
);

const TITLES: Partial<Record<TransactionField, string>> = {
	amount: 'Amount in Cents',
	amount_reais: 'Amount in Reais',
	amount_liquid: 'Net Amount in Cents',
	amount_liquid_reais: 'Net Amount in Reais',
	pix_qr_code: 'PIX Code',
};

const FIELD_OPTIONS = sortBy(
	TRANSACTION_FIELDS.map((value) => ({
		name: TITLES[value] ?? startCase(value).replace(/^Utm/, 'UTM'),
		value,
	})),
	'name',
);

/** Which flat fields of a transaction Simplify gives. */
export const fieldsOption = field(
	{
		displayName: 'Fields',
		name: 'fields',
		type: 'multiOptions',
		noDataExpression: true,
		options: FIELD_OPTIONS,
		default: [...DEFAULT_FIELDS],
		displayOptions: { show: { '/simplify': [true] } },
		description:
			'The fields of the simplified output. The hash and the payment status are always there.',
	},
	transactionFieldsSchema,
);

const DEFAULT_PROPERTY = 'qrCode';

const qrCodeImageProperty = {
	displayName: 'QR Code Image',
	name: 'qrCodeImage',
	type: 'boolean',
	default: true,
	description:
		'Whether to add the QR code of the PIX as a PNG picture. The picture is drawn in n8n, so no other service sees the charge.',
} as const;

export const qrCodeImage = field(qrCodeImageProperty, yesNoField);

/** @param shownFor the field or option that turns the picture on */
export function qrCodeFieldOption(
	shownFor: string,
): Field<'binaryPropertyName', string | undefined> {
	return field(
		{
			displayName: 'Put QR Code in Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: DEFAULT_PROPERTY,
			displayOptions: { show: { [shownFor]: [true] } },
			hint: 'The name of the output binary field to put the picture in',
			description:
				'Enter this name in a later node that sends files, for example by WhatsApp, Telegram or e-mail',
		},
		optional(textField),
	);
}

export const qrCodeOptions = [
	qrCodeFieldOption('qrCodeImage'),
	field(qrCodeImageProperty, optional(yesNoField)),
];

/** The name of the binary field for the picture; undefined if none is wanted. */
export function qrCodeProperty(options: {
	qrCodeImage?: boolean;
	binaryPropertyName?: string;
}): string | undefined {
	return options.qrCodeImage === true
		? (options.binaryPropertyName ?? DEFAULT_PROPERTY)
		: undefined;
}
