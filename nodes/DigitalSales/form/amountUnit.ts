import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

export const amountUnitOption: INodeProperties = {
	displayName: 'Amount Unit',
	name: 'amountUnit',
	type: 'options',
	options: [
		{ name: 'Cents', value: 'cents', description: '1990 is R$ 19,90' },
		{ name: 'Reais', value: 'reais', description: '19,90 is R$ 19,90' },
	],
	default: 'cents',
	description:
		'The unit in which amounts are typed in this form. The service itself counts in cents.',
};

export const amountUnitField = z.enum(['cents', 'reais']).optional();
