import { max, partition, upperFirst } from 'lodash';
import { z } from 'zod/v3';
import { quoteText } from '../../domain';
import {
	defineField,
	defineForm,
	defineOptions,
	type FormValues,
	outputFieldsOption,
	positiveNumberSchema,
	rejectBlank,
	simplifyField,
	transactionHashField,
} from '../../form';
import { NotSentError } from '../../output';
import { PaymentWait } from '../../wait';
import type { WaitOperation } from '../operation';

const UNITS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
const LONGEST_LIMIT = 365 * UNITS.days;

const timeLimit = [
	defineField({
		displayName: 'Time Limit',
		name: 'timeLimit',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 24,
		description:
			'The longest time to wait, by default 24 hours. Payments that are still open then leave by Not Paid, with "timed_out" true.',
		reads: rejectBlank(positiveNumberSchema).default(24),
	}),
	defineField({
		displayName: 'Time Limit Unit',
		name: 'timeLimitUnit',
		type: 'options',
		options: Object.keys(UNITS).map((value) => ({ name: upperFirst(value), value })),
		default: 'hours',
		reads: z
			.enum(['minutes', 'hours', 'days'], { message: 'must be minutes, hours or days' })
			.default('hours'),
	}),
];

const waitForm = defineForm([
	{
		displayName:
			'Waits until the customer pays or can no longer pay. Send the PIX code before this node.',
		name: 'waitNotice',
		type: 'notice',
		default: '',
	},
	transactionHashField,
	simplifyField,
	defineOptions([outputFieldsOption, ...timeLimit]),
]);

/** Transaction > Wait for Payment: repeats GET /transactions/{hash} (API document, Endpoint 1) until the payment is decided. */
export const waitForPaymentOperation: WaitOperation<FormValues<typeof waitForm>> = {
	resource: 'transaction',
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	form: waitForm,
	kind: 'wait',
	assertUsableByAgent() {
		// A tool call cannot wait. It would return at once and look like a time-out.
		throw new NotSentError(
			'Wait for Payment cannot be used as a tool by an agent',
			'Give the agent Transaction > Get to check a payment, or put Wait for Payment after the agent.',
		);
	},
	async runAll(run, forms, fail) {
		const limits = [...forms.values()].map(({ options }) => limitOf(options));
		const awaited = [...forms].map(([itemIndex, { transactionHash, simplify, options }]) => ({
			itemIndex,
			hash: transactionHash,
			simplify,
			fields: options.fields,
		}));

		const wait = new PaymentWait(run.context, max(limits) ?? 0);
		return await wait.lookAtAll(awaited, run.newClient, ({ itemIndex, hash }, error) =>
			fail(itemIndex, error, `transaction ${quoteText(hash)}`),
		);
	},
	postpone: async (context) => await new PaymentWait(context, 0).postpone(),
	outputs: {
		// Not Paid comes first, because n8n sends the input of a deactivated node to the first output, and what is not paid
		// must not be delivered.
		names: ['Not Paid', 'Paid'],
		sort: (items) => partition(items, ({ json }) => json.paid !== true),
	},
};

/** In milliseconds. */
function limitOf(options: { timeLimit: number; timeLimitUnit: keyof typeof UNITS }): number {
	return Math.min(options.timeLimit * UNITS[options.timeLimitUnit], LONGEST_LIMIT);
}
