import { z } from 'zod/v3';
import { defineField, defineForm, defineOptions, type FormValues } from '../../form/defineForm';
import { positiveNumberSchema, rejectBlank } from '../../form/fields';
import { transactionHashField } from '../../form/locators';
import { outputFieldsOption, simplifyOption } from '../../form/outputOptions';

const UNITS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

export const waitForm = defineForm(
	[
		{
			displayName:
				'The execution waits here until the payment is decided: paid, refused, canceled, expired, refunded or charged back. It needs no webhook, and continues after a restart of n8n. Deliver only if "paid" is true.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		transactionHashField,
		defineField({
			displayName: 'Time Limit',
			name: 'timeLimit',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 24,
			description:
				'The longest time to wait. After that, the execution continues, with "timed_out" true for each payment that is still open.',
			reads: rejectBlank(positiveNumberSchema),
		}),
		defineField({
			displayName: 'Time Limit Unit',
			name: 'timeLimitUnit',
			type: 'options',
			options: [
				{ name: 'Minutes', value: 'minutes' },
				{ name: 'Hours', value: 'hours' },
				{ name: 'Days', value: 'days' },
			],
			default: 'hours',
			reads: z.enum(['minutes', 'hours', 'days'], {
				message: 'must be minutes, hours or days',
			}),
		}),
		simplifyOption,
		defineOptions([outputFieldsOption]),
	],
	({ timeLimit, timeLimitUnit }) =>
		limitMs(timeLimit, timeLimitUnit) <= limitMs(LONGEST_LIMIT_DAYS, 'days')
			? []
			: [{ path: ['timeLimit'], message: `must be at most ${LONGEST_LIMIT_DAYS} days` }],
);

export type WaitForm = FormValues<typeof waitForm>;

export function limitMs(amount: number, unit: keyof typeof UNITS): number {
	return amount * UNITS[unit];
}
