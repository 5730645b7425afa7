import { z } from 'zod';
import { positiveNumberField, required } from '../../form/fields';
import { field, formOf, group } from '../../form/formOf';
import { fieldsOption, simplifyOption } from '../../form/outputOptions';
import { transactionHash } from './get.form';

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

/** The form of Transaction > Wait for Payment. */
export const waitForm = formOf(
	[
		{
			displayName:
				'The execution waits here until the payment is decided: paid, refused, canceled, expired, refunded or charged back. A Create PIX earlier in this workflow notifies it automatically; it also checks every minute at first, and later every hour. Deliver only if <b>paid</b> is true.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		transactionHash,
		field(
			{
				displayName: 'Time Limit',
				name: 'timeLimit',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 24,
				description:
					'The longest time to wait. After that, the execution continues, with "timedOut" true for each payment that is still open.',
			},
			required(positiveNumberField),
		),
		field(
			{
				displayName: 'Time Limit Unit',
				name: 'timeLimitUnit',
				type: 'options',
				options: [
					{ name: 'Seconds', value: 'seconds' },
					{ name: 'Minutes', value: 'minutes' },
					{ name: 'Hours', value: 'hours' },
					{ name: 'Days', value: 'days' },
				],
				default: 'hours',
			},
			z.enum(['seconds', 'minutes', 'hours', 'days'], {
				message: 'must be seconds, minutes, hours or days',
			}),
		),
		simplifyOption,
		group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [fieldsOption]),
	],
	({ timeLimit, timeLimitUnit }) =>
		limitMs(timeLimit, timeLimitUnit) <= limitMs(LONGEST_LIMIT_DAYS, 'days')
			? []
			: [{ path: ['timeLimit'], message: `must be at most ${LONGEST_LIMIT_DAYS} days` }],
);

/** A time limit in milliseconds. */
export function limitMs(amount: number, unit: keyof typeof UNITS): number {
	return amount * UNITS[unit];
}
