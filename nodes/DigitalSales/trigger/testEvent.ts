import { type IHookFunctions, NodeOperationError } from 'n8n-workflow';
import { Client, getTransaction, loadAccount, ServiceError, type Transaction } from '../api';
import { toFailure } from '../output';
import { pauseBeforeTestWebhook } from '../n8n';
import { allowBlank, hashSchema } from '../form';
import type { TriggerForm } from './form';
import { rejectionReason } from './filters';
import { LOOK_LIMITS } from './execute';

/**
 * Sends a webhook about a past transaction to the test URL. Does not wait for it, because n8n listens only after
 * `create`.
 *
 * @throws NodeOperationError or NodeApiError if the transaction cannot be read, or the form excludes it
 */
export async function sendTestEvent(context: IHookFunctions, form: TriggerForm): Promise<void> {
	const url = context.getNodeWebhookUrl('default');
	if (context.getMode() !== 'manual' || url === undefined) return;

	const hash = allowBlank(hashSchema).safeParse(form.testTransaction);
	if (!hash.success) throw testError(context, 'is not the hash of a transaction.');
	if (hash.data === undefined) return;

	const transaction = await readTestTransaction(context, hash.data);
	const reason = rejectionReason(form, transaction);
	if (reason !== undefined) {
		const problem = `names a transaction that does not start this workflow. ${reason}`;
		throw testError(context, `${problem} Enter another transaction, or change the form.`);
	}

	const body = { hash: transaction.hash, payment_status: transaction.payment_status };
	void pauseBeforeTestWebhook()
		.then(() => context.helpers.httpRequest({ method: 'POST', url, body, json: true }))
		.catch(() => context.logger.warn('The test webhook did not reach the trigger', { url }));
}

/** Before the trigger listens, the editor shows only an error's message. */
function testError(context: IHookFunctions, problem: string): NodeOperationError {
	return new NodeOperationError(context.getNode(), `Test With Transaction ${problem}`);
}

async function readTestTransaction(context: IHookFunctions, hash: string): Promise<Transaction> {
	try {
		const account = await loadAccount(context);
		return await getTransaction(new Client(context, account, LOOK_LIMITS), hash);
	} catch (error) {
		if (!(error instanceof ServiceError)) throw toFailure(context.getNode(), error).error;

		const problem = 'names a transaction that could not be read';
		throw testError(context, `${problem}. ${error.message}. ${error.advice}`);
	}
}
