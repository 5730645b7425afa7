import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../shared/clock';
import type { Transaction } from '../../api/schemas/transaction';
import type { Situation } from '../../api/retryPolicy';
import { ServiceError } from '../../api/serviceError';
import { getTransaction } from '../../api/transactions';
import { isSettled } from '../../domain/paymentStatus';
import { outputUnitField, outputUnitOption } from '../../form/amountUnit';
import {
	hashField,
	positiveNumberField,
	required,
	wholeNumberField,
	yesNoField,
} from '../../form/fields';
import { readForm } from '../../form/readForm';
import { simplifyProperty } from '../../form/simplifyProperty';
import { reportOutput } from '../../output/transaction';
import { isTool } from '../../once/execution';
import type { Operation } from '../operation';
import { hashProperty } from './hashProperty';

const UNITS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT_DAYS = 365;

const properties: INodeProperties[] = [
	{
		displayName:
			'The execution waits here and continues when the payment is decided: paid, refused, canceled, expired, refunded or charged back. To find out at once, set Notify in Create PIX to This Execution; otherwise it finds out at the next re-check. Check "timedOut" and "payment_status" before you deliver anything.',
		name: 'waitNotice',
		type: 'notice',
		default: '',
	},
	hashProperty,
	{
		displayName: 'Time Limit',
		name: 'timeLimit',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 60,
		description:
			'How long to wait at most. After that, the execution continues with the current state, and "timedOut" is true.',
	},
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
	{
		displayName: 'Re-Check Interval',
		name: 'recheckInterval',
		type: 'number',
		typeOptions: { minValue: 0, numberPrecision: 0 },
		default: 60,
		description:
			'How often to check the payment, in seconds, because notifications can get lost; 0 turns re-checks off. Each re-check costs one request per item.',
	},
	simplifyProperty,
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [outputUnitOption],
	},
];

const schema = z
	.object({
		transactionHash: required(hashField),
		timeLimit: required(positiveNumberField),
		timeLimitUnit: z.enum(['seconds', 'minutes', 'hours', 'days'], {
			message: 'must be seconds, minutes, hours or days',
		}),
		recheckInterval: required(wholeNumberField(0)),
		simplify: yesNoField,
		options: z.object({ outputUnit: outputUnitField }),
	})
	.refine(
		({ timeLimit, timeLimitUnit }) =>
			limitMs(timeLimit, timeLimitUnit) <= limitMs(LONGEST_LIMIT_DAYS, 'days'),
		{
			path: ['timeLimit'],
			message: `must be at most ${LONGEST_LIMIT_DAYS} days`,
		},
	);

/** Transaction > Wait for Payment: GET /transactions/{hash} (API document, Endpoint 1) until it is settled. */
export const waitForPaymentOperation: Operation = {
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	properties,
	serviceFields: { hash: 'transactionHash' },
	creates: false,
	itemsAtOnce: 32,
	prepare(context, itemIndex) {
		refuseAsTool(context, itemIndex);
		const form = readForm(context, itemIndex, properties, schema);
		const { transactionHash, simplify, options } = form;
		const { outputUnit: unit } = options;
		const deadline = clock.now() + limitMs(form.timeLimit, form.timeLimitUnit);
		const recheckMs = form.recheckInterval * 1_000;
		return {
			clientOptions: FIRST_READ_LIMITS,
			about: `transaction ${transactionHash}`,
			async send({ client, hint }) {
				const transaction = await getTransaction(client, transactionHash).catch(
					(error: unknown): Transaction => {
						if (!mayPass(error)) throw error;
						hint(
							'The payment could not be checked just now. The node checks again while the execution waits.',
						);
						return { hash: transactionHash, json: { hash: transactionHash } };
					},
				);
				const timedOut = !isSettled(transaction.payment_status);
				// Notices name the transaction as the service spells it.
				const { hash } = transaction;
				return [
					{
						json: { ...reportOutput(transaction, simplify, unit), timedOut },
						...(timedOut ? { pending: { hash, simplify, unit, deadline, recheckMs } } : {}),
					},
				];
			},
		};
	},
};

/** The wait itself is the longer retry. */
const FIRST_READ_LIMITS = {
	retry: { maxTries: 3, maxTotalMs: 15_000 },
	longestLimiterWaitMs: 15_000,
};

const PASSING: ReadonlySet<Situation> = new Set([
	'rateLimited',
	'unavailable',
	'serverError',
	'notSent',
	'interrupted',
]);

/** Whether a read failed in a way that may be over when it is tried again. */
function mayPass(error: unknown): boolean {
	return error instanceof ServiceError && PASSING.has(error.facts.situation);
}

function limitMs(amount: number, unit: keyof typeof UNITS): number {
	return amount * UNITS[unit];
}

/** An agent's tool call cannot be parked: it would return at once and look like a time-out. */
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
