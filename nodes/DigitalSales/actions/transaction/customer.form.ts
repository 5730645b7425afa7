import { parseDocument, stripDocument } from '../../domain/document';
import { parsePhone } from '../../domain/phone';
import type { Result } from '../../domain/result';
import { optional, parsed, textField } from '../../form/fields';
import { field } from '../../form/formOf';

const EMAIL_SHAPE = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/**
 * Schemas for the customer's data; unchecked, only the punctuation is dropped.
 *
 * @internal Exported for its tests.
 */
export function customerFields(checked: boolean) {
	const orStripped =
		(parse: (input: unknown) => Result<string>, strip: (text: string) => string) =>
		(input: unknown): Result<string> => {
			const result = parse(input);
			return 'value' in result || checked ? result : { value: strip(String(input)) };
		};
	return {
		email: checked
			? textField.refine((email) => EMAIL_SHAPE.test(email), 'is not an e-mail address')
			: textField,
		phone: parsed(orStripped(parsePhone, (text) => text.replace(/\D/g, ''))),
		document: parsed(orStripped(parseDocument, stripDocument)),
	};
}

/** The customer of Transaction > Create PIX. */
export const customer = [
	field(
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
	field(
		{
			displayName: 'Customer Email',
			name: 'customerEmail',
			type: 'string',
			default: '',
			placeholder: 'e.g. maria@example.com',
			description: 'E-mail address of the customer',
		},
		({ checkCustomer }) => optional(customerFields(checkCustomer).email),
		'customer.email',
	),
	field(
		{
			displayName: 'Customer Phone',
			name: 'customerPhone',
			type: 'string',
			default: '',
			placeholder: 'e.g. (11) 91234-5678',
			hint: 'Include the area code (DDD)',
			description: 'Phone number of the customer, with the area code',
		},
		({ checkCustomer }) => optional(customerFields(checkCustomer).phone),
		'customer.phone_number',
	),
	field(
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
		({ checkCustomer }) => optional(customerFields(checkCustomer).document),
		'customer.document',
	),
];
