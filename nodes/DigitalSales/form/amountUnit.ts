import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { moneyField, optional } from './fields';
import { deciding, type Field } from './formOf';

const OPTION_PATH = '/options.amountUnit';

/** No expression is allowed, so that the labels of the money fields can follow it. */
export const amountUnitOption = deciding(
	{
		displayName: 'Amount Unit',
		name: 'amountUnit',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Cents', value: 'cents', description: '1990 is R$ 19,90' },
			{ name: 'Reais', value: 'reais', description: '19,90 is R$ 19,90' },
		],
		default: 'reais',
		description: 'The unit of the amounts in this form. The raw data of the service is in cents.',
	},
	z.enum(['cents', 'reais']).optional(),
);

/**
 * An amount that may be left blank, read as integer cents. It has two properties, of which the form
 * shows the one for Options > Amount Unit: `Price` as `Price in Reais` or `Price in Cents`.
 */
export function money<const N extends string>(
	{ name, label, description }: { name: N; label: string; description: string },
	bodyName: string,
): Field<N, number | undefined> {
	const text = { name, type: 'string', default: '', description } as const;
	const inReais = deciding(
		{
			...text,
			displayName: `${label} in Reais`,
			placeholder: 'e.g. 19,90',
			hint: '97 is R$ 97,00. For amounts in cents, set Options > Amount Unit.',
			displayOptions: { hide: { [OPTION_PATH]: ['cents'] } },
		},
		({ unit }) => optional(moneyField(unit)),
		bodyName,
	);
	const inCents: INodeProperties = {
		...text,
		displayName: `${label} in Cents`,
		placeholder: 'e.g. 1990',
		hint: 'Digits only: 1990 is R$ 19,90',
		displayOptions: { show: { [OPTION_PATH]: ['cents'] } },
	};
	return { ...inReais, properties: [...inReais.properties, inCents] };
}
