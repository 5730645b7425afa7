import { BoundedMap } from '../shared/boundedMap';
import { processWide } from '../shared/processWide';
import type { Account } from './account';

/** Transactions that an account is known to have, by account and hash. */
const seenTransactions = processWide(new BoundedMap<true>({ most: 10_000 }));

/** Remembers that an account has a transaction: this process has made or read it. */
export function rememberTransaction(account: Account, hash: string): void {
	seenTransactions.set(entryOf(account, hash), true);
}

/** Whether an account is known to have a transaction. False means unknown, not absent. */
export function isKnownTransaction(account: Account, hash: string): boolean {
	return seenTransactions.get(entryOf(account, hash)) === true;
}

function entryOf({ key }: Account, hash: string): string {
	return `${key.slice(0, 16)} ${hash}`;
}
