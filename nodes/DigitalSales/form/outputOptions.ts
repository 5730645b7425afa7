import { z } from 'zod';
import { optional, textField, yesNoField } from './fields';
import { field, type Notice } from './formOf';

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

export const outputUnitField = z
	.enum(['cents', 'reais'], { message: 'must be cents or reais' })
	.optional();

/** The unit of the amounts that Simplify gives. */
export const outputUnitOption = field(
	{
		displayName: 'Simplified Amounts In',
		name: 'outputUnit',
		type: 'options',
		options: [
			{ name: 'Cents', value: 'cents', description: '1990, as in the raw data' },
			{ name: 'Reais', value: 'reais', description: '19.9, in a field whose name ends in _reais' },
		],
		default: 'reais',
		displayOptions: { show: { '/simplify': [true] } },
		description: 'The unit of amounts in the simplified output',
	},
	outputUnitField,
);

const DEFAULT_PROPERTY = 'qrCode';

/** For people who do not look for a picture among the options. */
export const qrCodeNotice: Notice = {
	displayName:
		'The customer pays with the text in <code>pix_qr_code</code>. To get its QR code as a picture too, add Options > <b>QR Code Image</b>.',
	name: 'qrCodeNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '/options.qrCodeImage': [true] } },
};

export const qrCodeOptions = [
	field(
		{
			displayName: 'Put QR Code in Field',
			name: 'binaryPropertyName',
			type: 'string',
			default: DEFAULT_PROPERTY,
			displayOptions: { show: { qrCodeImage: [true] } },
			hint: 'The name of the output binary field to put the picture in',
			description:
				'Enter this name in a later node that sends files, for example by WhatsApp, Telegram or e-mail',
		},
		optional(textField),
	),
	field(
		{
			displayName: 'QR Code Image',
			name: 'qrCodeImage',
			type: 'boolean',
			default: true,
			description:
				'Whether to add the QR code of the PIX as a PNG picture. The picture is drawn in n8n, so no other service sees the charge.',
		},
		optional(yesNoField),
	),
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
