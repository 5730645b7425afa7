import type { IWebhookFunctions } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount, type Account } from '../api/account';
import { clock } from '../api/clock';
import { processState } from '../api/processState';

const KEPT_MS = 5_000;
const MOST_KEPT = 100;

/**
 * The account of a node that takes notices in. n8n fetches and decrypts a credential anew for every
 * request; in a burst of notices that is most of the work, so a few seconds share it.
 */
export async function accountOf(context: IWebhookFunctions): Promise<Account> {
	const { id, credentials } = context.getNode();
	const key = `${context.getWorkflow().id} ${id} ${credentials?.[CREDENTIAL_NAME]?.id}`;
	const kept = processState.accounts.get(key);
	if (kept && kept.until > clock.elapsed()) return await kept.account;
	const account = context.getCredentials(CREDENTIAL_NAME).then(readAccount);
	forgetOld();
	processState.accounts.set(key, { account, until: clock.elapsed() + KEPT_MS });
	account.catch(() => processState.accounts.delete(key));
	return await account;
}

function forgetOld(): void {
	for (const [key, { until }] of processState.accounts) {
		if (until > clock.elapsed() && processState.accounts.size < MOST_KEPT) return;
		processState.accounts.delete(key);
	}
}
