import { type IExecuteFunctions, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod/v3';
import { quoted } from '../../domain/text';
import { readForm } from '../../form/readForm';
import { assertCanPark } from '../../n8n/parking';
import { isTool } from '../../n8n/tool';
import type { Client } from '../../api/client';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { positiveNumberField, required } from '../../form/fields';
import { field, formOf, group, type FormValues } from '../../form/formOf';
import { fieldsOption, simplifyOption } from '../../form/outputOptions';
import { transactionHash } from './get.operation';

const UNITS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

/** The form of Transaction > Wait for Payment. */
const waitForm = formOf(
	[
		{
			displayName:
				'The execution waits here until the payment is decided: paid, refused, canceled, expired, refunded or charged back. It needs no webhook, and continues after a restart of n8n. Deliver only if "paid" is true.',
			name: 'waitNotice',
			type: 'notice',
			default: '',
		},
		transactionHash,
		field({
			displayName: 'Time Limit',
			name: 'timeLimit',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 24,
			description:
				'The longest time to wait. After that, the execution continues, with "timed_out" true for each payment that is still open.',
			reads: required(positiveNumberField),
		}),
		field({
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
		group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [fieldsOption]),
	],
	({ timeLimit, timeLimitUnit }) =>
		limitMs(timeLimit, timeLimitUnit) <= limitMs(LONGEST_LIMIT_DAYS, 'days')
			? []
			: [{ path: ['timeLimit'], message: `must be at most ${LONGEST_LIMIT_DAYS} days` }],
);

/** A time limit in milliseconds. */
function limitMs(amount: number, unit: keyof typeof UNITS): number {
	return amount * UNITS[unit];
}

type WaitForm = FormValues<typeof waitForm>;

/** Transaction > Wait for Payment: GET /transactions/{hash} (API document, Endpoint 1) until it is settled. */
export const waitForPaymentOperation: Operation<WaitForm> = {
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	form: waitForm,
	creates: false,
	readsEach: true,
	read(run, itemIndex) {
		refuseAsTool(run.context, itemIndex);
		assertCanPark(run.context, itemIndex);
		const form = readForm(run.context, itemIndex, waitForm);
		run.wait.setTimeLimit(limitMs(form.timeLimit, form.timeLimitUnit));
		return form;
	},
	rank: (run, itemIndex) => run.wait.lastReadAt(itemIndex),
	about: ({ transactionHash: hash }) => `transaction ${quoted(hash)}`,
	async send(run, itemIndex, { transactionHash: hash, simplify, options: { fields } }) {
		return [await run.wait.lookAtPayment(lookClient(run), itemIndex, { hash, simplify, fields })];
	},
	finish: async (run, items) => await run.wait.finishLook(() => lookClient(run), items),
};

/**
 * Nobody waits for a look: without a permit of the rate limit, or after a failure, the next look is soon enough.
 * A busy process takes some milliseconds to give a permit.
 */
const LOOK = { retry: { maxTries: 1 }, longestLimiterWaitMs: 100, timeoutMs: 12_000 };

function lookClient(run: Run): Client {
	return run.client({ ...LOOK, isBackground: !run.wait.isLastLook });
}

/** A tool call cannot be parked: it would return at once and look like a time-out. */
function refuseAsTool(context: IExecuteFunctions, itemIndex: number): void {
	if (!isTool(context)) return;
	throw new NodeOperationError(
		context.getNode(),
		'Wait for Payment cannot be used as a tool by an agent',
		{
			itemIndex,
			description:
				'Give the agent Transaction > Get to check a payment, or put Wait for Payment after the agent.',
		},
	);
}
