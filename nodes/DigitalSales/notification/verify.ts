import type { IWebhookFunctions } from 'n8n-workflow';
import { readBoundsOf } from '../api/budget';
import { forgetTransaction, isKnownTransaction } from '../api/knownTransactions';
import { accountOf } from './accountOf';
import { factsOf } from './facts';
import { readBack, SHORTEST_READ_MS, type ReadBack } from './readBack';

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
	const bounds = readBoundsOf(account, isKnownTransaction(account, hash));
	if (!(await bounds.enter(answerBy - SHORTEST_READ_MS))) return { outcome: 'busy' };
	let misses = 1;
	try {
		const read = await readBack(context, account, hash, answerBy);
		misses = missesOf(read, hash);
		if (read.outcome === 'unknown') forgetTransaction(account, hash);
		return read;
	} finally {
		bounds.leave(misses);
	}
}

/**
 * How many requests did not find what the notice named. A hash that the service spells otherwise
 * counts among them: each of its many spellings would cost a read.
 */
function missesOf(read: ReadBack, hash: string): number {
	if (read.outcome !== 'found') return read.requests;
	return factsOf(read.transaction).hash === hash ? 0 : 1;
}
