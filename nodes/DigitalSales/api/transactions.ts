import type { IDataObject } from 'n8n-workflow';
import { hashSegment } from '../domain/text';
import { BoundedMap, processState } from '../shared/processState';
import type { Account } from './account';
import type { Client, Send } from './client';
import { readTransaction, type Transaction } from './schemas/transaction';

const seenTransactions = processState(new BoundedMap<true>({ most: 10_000 }));

/**
 * Yields the tries to create a PIX transaction (API document, Endpoint 3: POST /transactions).
 *
 * @param body amounts are in integer cents
 */
export function transactionTries(
	client: Client,
	body: IDataObject,
): AsyncGenerator<Send<Transaction>, void> {
	return client.tries(
		{
			endpoint: 'POST /transactions',
			path: '/transactions',
			body: { api_token: client.account.bodyApiToken, ...body },
		},
		(answer) => {
			const transaction = readTransaction(answer);
			if (transaction) markTransactionSeen(client.account, transaction.hash);
			return transaction;
		},
	);
}

/**
 * Reads a transaction (API document, Endpoint 1: GET /transactions/{hash}).
 *
 * @throws ServiceError
 */
export async function getTransaction(client: Client, hash: string): Promise<Transaction> {
	const requested = hash.trim();
	const transaction = await client.request(
		{ endpoint: 'GET /transactions/{hash}', path: `/transactions/${hashSegment(requested)}` },
		(body) => {
			const transaction = readTransaction(body);
			return transaction?.hash === requested ? transaction : undefined;
		},
	);
	markTransactionSeen(client.account, transaction.hash);
	return transaction;
}

/** @internal */
export function markTransactionSeen(account: Account, hash: string): void {
	seenTransactions.set(`${account.key} ${hash}`, true);
}

/** False means unknown, not absent. */
export function hasSeenTransaction(account: Account, hash: string): boolean {
	return seenTransactions.get(`${account.key} ${hash}`) === true;
}
