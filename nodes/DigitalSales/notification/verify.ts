import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { Client } from '../api/client';
import { ServiceError } from '../api/serviceError';
import { getTransaction } from '../api/transactions';

/** What reading a transaction back gave. */
export type Verification =
	| { outcome: 'found'; transaction: IDataObject }
	| { outcome: 'unknown' }
	| { outcome: 'unreachable' };

/** One quick retry included, all of it has to fit into the 10 s that a sender waits. */
const READ_BACK_LIMITS = { retry: { maxTries: 2, maxTotalMs: 4_500 }, timeoutMs: 4_000 };

/**
 * Reads a transaction back from the service. Only a well-formed transaction with the very hash asked
 * for is believed; only a 404 says that there is none.
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	hash: string,
): Promise<Verification> {
	try {
		const credential = await context.getCredentials(CREDENTIAL_NAME);
		const client = new Client(context, readAccount(credential), READ_BACK_LIMITS);
		return { outcome: 'found', transaction: await getTransaction(client, hash) };
	} catch (error) {
		const unknown =
			error instanceof ServiceError &&
			error.facts.status === 404 &&
			error.facts.unreadable === undefined;
		return { outcome: unknown ? 'unknown' : 'unreachable' };
	}
}
