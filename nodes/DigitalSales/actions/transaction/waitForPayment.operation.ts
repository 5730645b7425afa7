import { type IExecuteFunctions, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../shared/clock';
import type { Transaction } from '../../api/schemas/transaction';
import { retryDecision, ServiceError } from '../../api/outcome';
import { getTransaction } from '../../api/transactions';
import { isPaid, isSettled } from '../../domain/paymentStatus';
import { readForm } from '../../form/readForm';
import { waitOutput } from '../../output/transaction';
import { isTool } from '../../once/execution';
import { suspendIfPending } from '../../wait/suspension';
import type { Operation } from '../operation';
import { positiveNumberField, required } from '../../form/fields';
import { field, formOf, group, type FormValues } from '../../form/formOf';
import { fieldsOption, simplifyOption } from '../../form/outputOptions';
import { transactionHash } from './get.operation';

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

/** The form of Transaction > Wait for Payment. */
const waitForm = formOf(
	[
		{
			displayName:
				'The execution waits here until the payment is decided: paid, refused, canceled, expired, refunded or charged back. A Create PIX earlier in this workflow notifies it automatically; it also checks every minute at first, and less often later. Deliver only if <b>paid</b> is true.',
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
				'The longest time to wait. After that, the execution continues, with "timedOut" true for each payment that is still open.',
			reads: required(positiveNumberField),
		}),
		field({
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
			reads: z.enum(['seconds', 'minutes', 'hours', 'days'], {
				message: 'must be seconds, minutes, hours or days',
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

type WaitForm = FormValues<typeof waitForm> & { deadline: number };

/** Transaction > Wait for Payment: GET /transactions/{hash} (API document, Endpoint 1) until it is settled. */
export const waitForPaymentOperation: Operation<WaitForm> = {
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	form: waitForm,
	creates: false,
	readsEach: true,
	read({ context }, itemIndex) {
		refuseAsTool(context, itemIndex);
		const form = readForm(context, itemIndex, waitForm);
		return { ...form, deadline: clock.now() + limitMs(form.timeLimit, form.timeLimitUnit) };
	},
	about: ({ transactionHash: hash }) => `transaction ${hash}`,
	async send(run, _itemIndex, { transactionHash: typed, simplify, options, deadline }) {
		const { fields } = options;
		const transaction = await getTransaction(run.client(FIRST_READ_LIMITS), typed).catch(
			(error: unknown): Transaction => {
				if (!mayPass(error)) throw error;
				run.hint(
					`Transaction ${typed} could not be read just now. The node checks again while the execution waits.`,
					'unread',
					`transaction ${typed}`,
				);
				return { hash: typed, json: { hash: typed } };
			},
		);
		const { hash, payment_status: status } = transaction;
		const isOpen = !isSettled(status);
		const pending =
			isOpen || isPaid(status) ? { isOpen, hash, simplify, fields, deadline } : undefined;
		return [{ json: waitOutput(transaction, { simplify, fields }), pending }];
	},
	finish: suspendIfPending,
};

/** The wait itself is the longer retry. */
const FIRST_READ_LIMITS = {
	retry: { maxTries: 3, maxTotalMs: 15_000 },
	longestLimiterWaitMs: 15_000,
};

/**
 * Whether a failed read may succeed later, as a suspended wait takes for granted. What would fail a POST for
 * certain somebody has to put right first: the token, a redirect, n8n's protections. But a charge that was
 * just made may be unknown for a moment, and a web page may come from a proxy.
 */
function mayPass(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	const { kind, status, isWebPage } = error.outcome;
	const isLasting = retryDecision('POST', kind) === 'fail' && kind !== 'notFound';
	return !isLasting || status === 200 || isWebPage === true;
}

/** A tool call cannot be suspended: it would return at once and look like a time-out. */
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
