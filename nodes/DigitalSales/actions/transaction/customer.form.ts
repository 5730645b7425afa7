import { parseDocument } from '../../domain/document';
import { parsePhone } from '../../domain/phone';
import { cleanTextField, optional, parsed, textField } from '../../form/fields';
import { deciding } from '../../form/formOf';

const LONGEST_EMAIL = 254;
const EMAIL_SHAPE = /^[^\s@:;,<>]+@[\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)+$/u;

/** @internal Exported for its tests. */
export const emailField = cleanTextField.refine(
	(email) => email.length <= LONGEST_EMAIL && EMAIL_SHAPE.test(email),
	'is not an e-mail address',
);

/** The customer of Transaction > Create PIX. */
export const customer = [
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
