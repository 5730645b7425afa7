import { z } from 'zod';
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
