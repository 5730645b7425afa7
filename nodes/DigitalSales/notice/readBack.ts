import type { IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { Client } from '../api/client';
import { clock } from '../shared/clock';
import type { Transaction } from '../api/schemas/transaction';
import { ServiceError } from '../api/outcome';
import { getTransaction } from '../api/transactions';

/** What reading a transaction back gave, and how many requests that took where it gave nothing. */
export type ReadBack =
	| { outcome: 'found'; transaction: Transaction }
	| { outcome: 'unknown' | 'unreachable'; requests: number };

/** A sender waits some ten seconds; all of it, one quick retry included, has to fit in there. */
export const ANSWER_WITHIN_MS = 9_500;

/** With less time than this left, reading would only spend a request. */
export const SHORTEST_READ_MS = 3_000;

const LONGEST_TRY_MS = 3_500;
const LONGEST_LIMITER_WAIT_MS = 1_000;
const MOST_TRIES = 2;

/**
 * Reads a transaction back from the service for somebody who is waiting for an answer. Only a
 * well-formed transaction with the hash asked for is believed; only a 404 says that there is none.
 *
 * @param answerBy when the answer has to be there, on the clock of the package
 */
export async function readBack(
	context: IWebhookFunctions,
	account: Account,
	hash: string,
	answerBy: number,
): Promise<ReadBack> {
	const forTries = Math.max(0, answerBy - clock.elapsed() - MOST_TRIES * LONGEST_LIMITER_WAIT_MS);
	const timeoutMs = Math.min(LONGEST_TRY_MS, Math.max(1, Math.floor(forTries / MOST_TRIES)));
	const client = new Client(context, account, {
		timeoutMs,
		retry: { maxTries: MOST_TRIES, maxTotalMs: Math.max(0, forTries - timeoutMs) },
		longestLimiterWaitMs: LONGEST_LIMITER_WAIT_MS,
	});
	try {
		return { outcome: 'found', transaction: await getTransaction(client, hash) };
	} catch (error) {
		if (!(error instanceof ServiceError)) return { outcome: 'unreachable', requests: 1 };
		const { outcome, tries } = error;
		const isUnknown = outcome.status === 404 && outcome.unreadable === undefined;
		return { outcome: isUnknown ? 'unknown' : 'unreachable', requests: tries };
	}
}
