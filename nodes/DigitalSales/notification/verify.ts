import type { IWebhookFunctions } from 'n8n-workflow';
import { readBoundsOf } from '../api/budget';
import { forgetTransaction, isKnownTransaction } from '../api/knownTransactions';
import { accountOf } from './accountOf';
import { readBack, type ReadBack } from './readBack';

/** What verifying a notice gave; `busy` is that too much is being read, or was in the last minute. */
export type Verification = ReadBack | { outcome: 'busy' };

/**
 * Reads the transaction of a notice back, within the bounds of what strangers may cause.
 *
 * @param answerBy when the answer has to be there, on the clock of the package
 */
export async function verifyTransaction(
	context: IWebhookFunctions,
	hash: string,
	answerBy: number,
): Promise<Verification> {
	const account = await accountOf(context);
	const bounds = readBoundsOf(account);
	const isKnown = isKnownTransaction(account, hash);
	if (!(await bounds.enter(isKnown))) return { outcome: 'busy' };
	let foundNothing = false;
	try {
		const read = await readBack(context, account, hash, answerBy);
		foundNothing = read.outcome === 'unknown';
		if (foundNothing) forgetTransaction(account, hash);
		return read;
	} finally {
		bounds.leave(isKnown, foundNothing);
	}
}
