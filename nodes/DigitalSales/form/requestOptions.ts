import { optional, textField } from './fields';
import { field, type Field } from './formOf';

/** With its code the user says that something in doubt was not made. */
export function repeatCodeOption(
	displayName: string,
	description: string,
): Field<'repeatCode', string | undefined> {
	return field(
		{
			displayName,
			name: 'repeatCode',
			type: 'string',
			default: '',
			placeholder: 'e.g. 7KQ2-M4XD',
			description,
		},
		optional(textField),
	);
}
