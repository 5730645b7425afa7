import type { IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';

/**
 * Accounts of nodes that take notices in, for a few seconds.
 *
 * @internal
 */
export const accounts = processWide(new PromiseCache<Account>({ most: 100, keptMs: 5_000 }));

/**
 * The account of a node that takes notices in. n8n fetches and decrypts a credential anew for every
 * request; in a burst of notices that is most of the work, so a few seconds share it.
 */
export async function accountOf(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	return await accounts.get(key, async () =>
		readAccount(await context.getCredentials(CREDENTIAL_NAME)),
	);
}
