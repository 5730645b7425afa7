import { timestamp } from '../clock';
import type { EarlyNoticeFault } from '../faults/types';
import { isRecord } from '../http/json';
import type { StoredTransaction } from '../types';
import { failure, failureByField, failureList, json, type Answer } from './answer';
import { charge } from './charge';
import type { ApiRequest, SandboxParts } from './context';
import { readTransaction } from './transactionInput';
import { createdShape, readShape } from './transactionShape';

/** Section "POST /transactions": a PIX charge for a cart of offers. */
export function createTransaction(parts: SandboxParts): (request: ApiRequest) => Promise<Answer> {
	const { settings, state } = parts;
	const tokens = [settings.bodyApiToken, settings.apiToken];
	return async ({ body, faults }) => {
		const source = isRecord(body) ? body : {};
		const token = source['api_token'];
		if (typeof token !== 'string' || !tokens.includes(token)) {
			const text = token === undefined ? 'The api_token field is required.' : 'Invalid api_token.';
			return failureList(401, 'Unauthenticated.', [text]);
		}
		const forced = faults.of('errorsByField');
		if (forced?.errors) return failureByField('The given data was invalid.', forced.errors);
		const { errors, input } = readTransaction(source, settings, state);
		if (errors.any) {
			if (forced || settings.errorsByField) {
				return failureByField(errors.message(), errors.keyed());
			}
			return failureList(422, errors.message(), errors.list());
		}
		const stored = await charge(parts, input, { refused: faults.of('refused') !== undefined });
		const shape = createdShape(stored, settings.qrImage);
		const answer = json(201, settings.wrapTransactions ? { success: true, data: shape } : shape);
		const early = faults.of('earlyNotice');
		return early ? await notifyEarly(parts, stored, answer, early) : answer;
	};
}

/** Section "GET /transactions/{hash}". */
export function readTransactionByHash(parts: SandboxParts): (request: ApiRequest) => Answer {
	const { settings, state } = parts;
	return ({ params }) => {
		const stored = state.transaction(params['hash'] ?? '');
		if (!stored || stored.hidden) return failure(404, 'Transaction not found.');
		const shape = readShape(stored, settings.qrImage);
		return json(200, settings.wrapTransactions ? { success: true, data: shape } : shape);
	};
}

/** Changes the status and what depends on it; the caller sends the notice. */
export function changeStatus(stored: StoredTransaction, status: string): void {
	const now = timestamp(Date.now());
	stored.previous_status = stored.payment_status;
	stored.payment_status = status;
	stored.updated_at = now;
	if (status === 'paid') stored.paid_at = now;
}

async function notifyEarly(
	parts: SandboxParts,
	stored: StoredTransaction,
	answer: Answer,
	fault: EarlyNoticeFault,
): Promise<Answer> {
	if (fault.hidden) stored.hidden = true;
	if (fault.status !== undefined) changeStatus(stored, fault.status);
	await parts.notifier.announce(stored);
	return {
		...answer,
		afterSent: () => {
			stored.hidden = false;
		},
	};
}
