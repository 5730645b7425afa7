import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { moneyField, optional } from './fields';
import { field, type Field } from './formOf';

const OPTION_PATH = '/options.amountUnit';

/** In which unit amounts are typed. Fixed, so that the labels of the money fields can follow it. */
export const amountUnitOption = field(
	{
		displayName: 'Amount Unit',
		name: 'amountUnit',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Cents', value: 'cents', description: '1990 is R$ 19,90' },
			{ name: 'Reais', value: 'reais', description: '19,90 is R$ 19,90' },
		],
		default: 'cents',
		description: 'The unit of the amounts in this form. The service itself uses cents.',
	},
	z.enum(['cents', 'reais']).optional(),
);

/** What a money field is about; its label and hint come from the unit. */
interface Money<N extends string> {
	name: N;
	/** For example `Price`, shown as `Price in Cents` or `Price in Reais`. */
	label: string;
	description: string;
}

/**
 * An amount that may be left blank, read as integer cents. It has two faces, of which the form shows
 * the one of Options > Amount Unit.
 */
export function money<const N extends string>(
	{ name, label, description }: Money<N>,
	bodyName: string,
): Field<N, number | undefined> {
	const inCents = field(
		{
			displayName: `${label} in Cents`,
			name,
			type: 'string',
			default: '',
			placeholder: 'e.g. 1990',
			hint: 'Digits only: 1990 is R$ 19,90. To type reais, set Options > Amount Unit.',
			description,
			displayOptions: { hide: { [OPTION_PATH]: ['reais'] } },
		},
		({ unit }) => optional(moneyField(unit)),
		bodyName,
	);
	const inReais: INodeProperties = {
		displayName: `${label} in Reais`,
		name,
		type: 'string',
		default: '',
		placeholder: 'e.g. 19,90',
		hint: '19,90 is sent as 1990 cents. Write 1990,00, not 1.990.',
		description,
		displayOptions: { show: { [OPTION_PATH]: ['reais'] } },
	};
	return { ...inCents, properties: [...inCents.properties, inReais] };
}
