import { sortBy, startCase } from 'lodash';
import {
	DEFAULT_CHARGE_FIELDS,
	DEFAULT_FIELDS,
	TRANSACTION_FIELDS,
	type TransactionField,
	transactionFieldsSchema,
} from '../output';
import { allowBlank, yesNoSchema } from './fields';
import { defineField } from './defineForm';

export const simplifyField = defineField({
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
	reads: yesNoSchema,
});

const TITLES: Partial<Record<TransactionField, string>> = {
	amount: 'Amount in Cents',
	amount_reais: 'Amount in Reais',
	amount_liquid: 'Net Amount in Cents',
	amount_liquid_reais: 'Net Amount in Reais',
	pix_qr_code: 'PIX Code',
	pix_qr_code_image: 'PIX QR Code Data URL',
};

const FIELD_OPTIONS = sortBy(
	TRANSACTION_FIELDS.map((value) => ({
		name: TITLES[value] ?? startCase(value).replace(/^Utm/, 'UTM'),
		value,
	})),
	'name',
);

const defineOutputFields = (options: typeof FIELD_OPTIONS, initial = DEFAULT_FIELDS) =>
	defineField({
		displayName: 'Output Fields',
		name: 'fields',
		type: 'multiOptions',
		noDataExpression: true,
		options,
		default: [...initial],
		displayOptions: { show: { '/simplify': [true] } },
		description:
			'The fields of the simplified output. The hash and the payment status are always included.',
		reads: transactionFieldsSchema,
	});

/** Of Get. Only Get and Create PIX draw the QR code. */
export const outputFieldsWithDataUrl = defineOutputFields(FIELD_OPTIONS);
export const chargeFieldsOption = defineOutputFields(FIELD_OPTIONS, DEFAULT_CHARGE_FIELDS);
/** Of Wait for Payment and the trigger. */
export const outputFieldsOption = defineOutputFields(
	FIELD_OPTIONS.filter(({ value }) => value !== 'pix_qr_code_image'),
);

export const qrCodeImageOption = defineField({
	displayName: 'QR Code Image',
	name: 'qrCodeImage',
	type: 'boolean',
	default: true,
	description:
		'Whether to add the QR code of the PIX as a PNG picture, in the binary field <code>qrCode</code>',
	reads: allowBlank(yesNoSchema),
});
