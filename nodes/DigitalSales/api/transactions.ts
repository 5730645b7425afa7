import type { IDataObject } from 'n8n-workflow';
import { hashSegment } from '../domain';
import type { Client } from './client';
import { parseTransaction, type Transaction } from './schemas/transaction';

/**
 * Yields the tries to create a PIX transaction (API document, Endpoint 3: POST /transactions).
 *
 * @param body amounts are in integer cents
 */
export function transactionTries(client: Client, body: IDataObject) {
	return client.tries({
		endpoint: 'POST /transactions',
		path: '/transactions',
		body: { api_token: client.account.bodyApiToken, ...body },
		parse: parseTransaction,
	});
}

/**
 * Reads a transaction (API document, Endpoint 1: GET /transactions/{hash}).
 *
 * @throws ServiceError
 */
export async function getTransaction(client: Client, hash: string): Promise<Transaction> {
	return await client.request({
		endpoint: 'GET /transactions/{hash}',
		path: `/transactions/${hashSegment(hash)}`,
		parse(body) {
			const transaction = parseTransaction(body);
			return transaction?.hash === hash.trim() ? transaction : undefined;
		},
	});
}
