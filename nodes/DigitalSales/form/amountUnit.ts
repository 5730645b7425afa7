import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

const OPTION_PATH = '/options.amountUnit';

/** In which unit amounts are typed. Fixed, so that the labels of the money fields can follow it. */
export const amountUnitOption: INodeProperties = {
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
};

export const amountUnitField = z.enum(['cents', 'reais']).optional();

/** In which unit Simplify gives amounts. */
export const outputUnitOption: INodeProperties = {
	displayName: 'Simplified Amounts In',
	name: 'outputUnit',
	type: 'options',
	options: [
		{ name: 'Cents', value: 'cents', description: '1990, as the service returns it' },
		{ name: 'Reais', value: 'reais', description: '19.9, in a field whose name ends in _reais' },
	],
	default: 'cents',
	displayOptions: { show: { '/simplify': [true] } },
	description: 'The unit of amounts in the simplified output',
};

export const outputUnitField = z
	.enum(['cents', 'reais'], { message: 'must be cents or reais' })
	.optional();

/** What a money field is about; its label and hint come from the unit. */
interface MoneyField {
	name: string;
	/** For example `Price`, shown as `Price in Cents` or `Price in Reais`. */
	label: string;
	description: string;
}

/** The two faces of a money field, of which the form shows the one of Options > Amount Unit. */
export function moneyProperties({ name, label, description }: MoneyField): INodeProperties[] {
	return [
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
		{
			displayName: `${label} in Reais`,
			name,
			type: 'string',
			default: '',
			placeholder: 'e.g. 19,90',
			hint: '19,90 is sent as 1990 cents. Write 1990,00, not 1.990.',
			description,
			displayOptions: { show: { [OPTION_PATH]: ['reais'] } },
		},
	];
}
