import type { IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { processWide } from '../shared/processWide';
import { PromiseCache } from '../shared/promiseCache';

/** @internal */
export const accounts = processWide(new PromiseCache<Account>({ most: 100, keptMs: 5_000 }));

/**
 * The account of a node that receives notices, kept for a few seconds: fetching and decrypting the
 * credential for every request is most of the work in a burst.
 */
export async function accountOf(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	return await accounts.get(key, async () =>
		readAccount(await context.getCredentials(CREDENTIAL_NAME)),
	);
}
