import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../shared/clock';
import type { Transaction } from '../../api/schemas/transaction';
import { ServiceError, type OutcomeKind } from '../../api/outcome';
import { getTransaction } from '../../api/transactions';
import { isSettled } from '../../domain/paymentStatus';
import { positiveNumberField, required, wholeNumberField } from '../../form/fields';
import { field, formOf, group } from '../../form/formOf';
import { outputUnitOption, simplifyOption } from '../../form/outputOptions';
import { readForm } from '../../form/readForm';
import { waitOutput } from '../../output/transaction';
import { isTool } from '../../once/execution';
import { suspendIfPending } from '../../wait/suspend';
import type { Operation } from '../operation';
import { transactionHash } from './get.operation';

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

const form = formOf(
	[
		{
			displayName:
				'The execution waits here and continues when the payment is decided: paid, refused, canceled, expired, refunded or charged back. To find out at once, set Notify in Create PIX to This Execution; otherwise it finds out at the next re-check. Deliver only where <b>paid</b> is true.',
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
				default: 60,
				description:
					'How long to wait at most. After that, the execution continues, with "timedOut" true for each payment that is still open.',
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
				default: 'minutes',
			},
			z.enum(['seconds', 'minutes', 'hours', 'days'], {
				message: 'must be seconds, minutes, hours or days',
			}),
		),
		field(
			{
				displayName: 'Re-Check Interval',
				name: 'recheckInterval',
				type: 'number',
				typeOptions: { minValue: 0, numberPrecision: 0 },
				default: 60,
				description:
					'How often to check the payment, in seconds, because webhooks can get lost; 0 turns re-checks off. Each re-check costs one request per item.',
			},
			required(wholeNumberField(0)),
		),
		simplifyOption,
		group({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, [
			outputUnitOption,
		]),
	],
	({ timeLimit, timeLimitUnit }) =>
		limitMs(timeLimit, timeLimitUnit) <= limitMs(LONGEST_LIMIT_DAYS, 'days')
			? []
			: [{ path: ['timeLimit'], message: `must be at most ${LONGEST_LIMIT_DAYS} days` }],
);

/** Transaction > Wait for Payment: GET /transactions/{hash} (API document, Endpoint 1) until it is settled. */
export const waitForPaymentOperation: Operation = {
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	form,
	creates: false,
	itemsAtOnce: 32,
	prepare(run, itemIndex) {
		refuseAsTool(run.context, itemIndex);
		const choice = readForm(run.context, itemIndex, form);
		const { transactionHash: typedHash, simplify, options } = choice;
		const { outputUnit: unit } = options;
		const deadline = clock.now() + limitMs(choice.timeLimit, choice.timeLimitUnit);
		const recheckMs = choice.recheckInterval * 1_000;
		return {
			about: `transaction ${typedHash}`,
			async send() {
				const transaction = await getTransaction(run.client(FIRST_READ_LIMITS), typedHash).catch(
					(error: unknown): Transaction => {
						if (!mayPass(error)) throw error;
						run.hint(
							'The payment could not be checked just now. The node checks again while the execution waits.',
						);
						return { hash: typedHash, json: { hash: typedHash } };
					},
				);
				const isOpen = !isSettled(transaction.payment_status);
				// Notices name the transaction as the service spells it.
				const { hash } = transaction;
				return [
					{
						json: waitOutput(transaction, simplify, unit),
						...(isOpen ? { pending: { hash, simplify, unit, deadline, recheckMs } } : {}),
					},
				];
			},
		};
	},
	finish: suspendIfPending,
};

/** The wait itself is the longer retry. */
const FIRST_READ_LIMITS = {
	retry: { maxTries: 3, maxTotalMs: 15_000 },
	longestLimiterWaitMs: 15_000,
};

const PASSING: ReadonlySet<OutcomeKind> = new Set([
	'rateLimited',
	'unavailable',
	'serverError',
	'notSent',
	'interrupted',
]);

/** Whether a failed read may succeed later. */
function mayPass(error: unknown): boolean {
	return error instanceof ServiceError && PASSING.has(error.outcome.kind);
}

function limitMs(amount: number, unit: keyof typeof UNITS): number {
	return amount * UNITS[unit];
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
