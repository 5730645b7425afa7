import { moneyField, optional } from './fields';
import { deciding, type Field } from './formOf';

/** An amount in reais that may be left blank, read as integer cents. */
export function money<const N extends string>(
	{ name, label, description }: { name: N; label: string; description: string },
	bodyName: string,
): Field<N, number | undefined> {
	return deciding(
		{
			displayName: `${label} in Reais`,
			name,
			type: 'string',
			default: '',
			placeholder: 'e.g. 19,90',
			hint: '97 is R$ 97,00. If your data is in cents, divide it by 100.',
			description,
		},
		optional(moneyField('reais')),
		bodyName,
	);
}
