import type { IExecuteFunctions } from 'n8n-workflow';
import type { Client } from '../../api/client';
import { SHARES } from '../../api/rateLimiter';
import { quoteText } from '../../domain/text';
import { assertCanPark } from '../../n8n/parking';
import { isTool } from '../../n8n/tool';
import { NotSentError } from '../../output/errors';
import type { Operation } from '../operation';
import type { Run } from '../run';
import { limitMs, waitForm, type WaitForm } from './waitForPayment.form';

/** Transaction > Wait for Payment: repeats GET /transactions/{hash} (API document, Endpoint 1) until the payment is decided. */
export const waitForPaymentOperation: Operation<WaitForm> = {
	name: 'Wait for Payment',
	value: 'waitForPayment',
	action: 'Wait for the payment of a transaction',
	description: 'Pause the execution until a transaction is paid or can no longer be paid',
	form: waitForm,
	kind: 'read',
	assertUsable(context, itemIndex) {
		refuseAsTool(context);
		assertCanPark(context, itemIndex);
	},
	complete(run, form) {
		run.wait.setTimeLimit(limitMs(form.timeLimit, form.timeLimitUnit));
		return form;
	},
	rank: (run, itemIndex) => run.wait.lastTriedAt(itemIndex),
	about: ({ transactionHash: hash }) => `transaction ${quoteText(hash)}`,
	async send(run, itemIndex, { transactionHash: hash, simplify, options: { fields } }) {
		return [await run.wait.lookAtPayment(lookClient(run), itemIndex, { hash, simplify, fields })];
	},
	finish: async (run, items) => await run.wait.finishLook(() => lookClient(run), items),
};

/** A look is not repeated, because the next look comes soon enough. */
const LOOK = { retry: { maxTries: 1 }, longestLimiterWaitMs: 100, timeoutMs: 12_000 };

function lookClient(run: Run): Client {
	const { isLastLook } = run.wait;
	return run.newClient({ ...LOOK, ...(isLastLook ? { isUrgent: true } : { share: SHARES.looks }) });
}

/** A tool call cannot wait. It would return at once and look like a time-out. */
function refuseAsTool(context: IExecuteFunctions): void {
	if (!isTool(context)) return;
	throw new NotSentError(
		'Wait for Payment cannot be used as a tool by an agent',
		'Give the agent Transaction > Get to check a payment, or put Wait for Payment after the agent.',
	);
}
