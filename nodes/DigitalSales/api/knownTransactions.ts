import type { Account } from './account';
import { processState } from './processState';

/** Remembers that an account has a transaction: this process has made or read it. */
export function rememberTransaction(account: Account, hash: string): void {
	processState.knownTransactions.set(entryOf(account, hash), true);
}

/** Whether an account is known to have a transaction. False means unknown, not absent. */
export function isKnownTransaction(account: Account, hash: string): boolean {
	return processState.knownTransactions.get(entryOf(account, hash)) === true;
}

function entryOf({ key }: Account, hash: string): string {
	return `${key.slice(0, 16)} ${hash}`;
}
