import type { IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { BoundedMap } from '../shared/boundedMap';
import { clock } from '../shared/clock';
import { processWide } from '../shared/processWide';

const KEPT_MS = 5_000;

/**
 * Accounts of nodes that take notices in, for a few seconds.
 *
 * @internal
 */
export const accounts = processWide(
	new BoundedMap<{ account: Promise<Account>; until: number }>({
		most: 100,
		isOver: ({ until }) => until <= clock.elapsed(),
	}),
);

/**
 * The account of a node that takes notices in. n8n fetches and decrypts a credential anew for every
 * request; in a burst of notices that is most of the work, so a few seconds share it.
 */
export async function accountOf(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	const kept = accounts.get(key);
	if (kept) return await kept.account;
	const account = context.getCredentials(CREDENTIAL_NAME).then(readAccount);
	accounts.set(key, { account, until: clock.elapsed() + KEPT_MS });
	account.catch(() => accounts.delete(key));
	return await account;
}
