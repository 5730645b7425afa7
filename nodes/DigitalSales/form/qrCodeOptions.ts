import type { INodeProperties } from 'n8n-workflow';
import { optional, textField, yesNoField } from './fields';

const DEFAULT_PROPERTY = 'qrCode';

/** Says that there is a picture, to whoever does not look among the options for it. */
export const qrCodeNotice: INodeProperties = {
	displayName:
		'The customer pays with the text in <code>pix_qr_code</code>. To get its QR code as a picture too, add Options > <b>QR Code Image</b>.',
	name: 'qrCodeNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '/options.qrCodeImage': [true] } },
};

/** The options for the QR code of a PIX transaction as a picture. */
export const qrCodeOptions: INodeProperties[] = [
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
	{
		displayName: 'QR Code Image',
		name: 'qrCodeImage',
		type: 'boolean',
		default: true,
		description:
			'Whether to add the QR code of the PIX as a PNG picture. The picture is drawn in n8n, so no other service sees the charge.',
	},
];

export const qrCodeOptionsShape = {
	qrCodeImage: optional(yesNoField),
	binaryPropertyName: optional(textField),
};

/** The name of the field for the picture; undefined where none is wanted. */
export function qrCodeProperty(options: {
	qrCodeImage?: boolean;
	binaryPropertyName?: string;
}): string | undefined {
	return options.qrCodeImage === true
		? (options.binaryPropertyName ?? DEFAULT_PROPERTY)
		: undefined;
}
