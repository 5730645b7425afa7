import type { IWebhookFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { isKnownTransaction } from '../api/transactions';
import { accountOf } from './accountOf';
import { readLimiterFor, type ReadLane } from './readLimiter';
import { readBack, SHORTEST_READ_MS, type ReadBack } from './readBack';

/** What verifying a notice gave; `busy` is that too much is being read, or was in the last minute. */
export type Verification = ReadBack | { outcome: 'busy' };

/** A notice that asks for a read. */
interface Request {
	hash: string;
	/** Whether it came to an address with the right secret. */
	hasSecret: boolean;
	/** When the answer has to be there, on the clock of the package. */
	answerBy: number;
}

/** Reads the transaction of a notice back, within the bounds of what its sender may cause. */
export async function verifyTransaction(
	context: IWebhookFunctions,
	{ hash, hasSecret, answerBy }: Request,
): Promise<Verification> {
	const account = await accountOf(context);
	const limiter = readLimiterFor(account, hasSecret ? 'trusted' : laneOf(account, hash));
	if (!(await limiter.enter(answerBy - SHORTEST_READ_MS))) return { outcome: 'busy' };
	let misses = 1;
	try {
		const read = await readBack(context, account, hash, answerBy);
		misses = missesOf(read, hash);
		return read;
	} finally {
		limiter.leave(misses);
	}
}

/** A 404 does not make a stranger of a known one: a notice can come before its transaction can be read. */
function laneOf(account: Account, hash: string): ReadLane {
	return isKnownTransaction(account, hash) ? 'known' : 'strangers';
}

/**
 * How many requests did not find what the notice named. A hash that the service spells otherwise
 * counts among them: each of its many spellings would cost a read.
 */
function missesOf(read: ReadBack, hash: string): number {
	if (read.outcome !== 'found') return read.requests;
	return read.transaction.hash === hash ? 0 : 1;
}
