import type { Account } from './account';
import { processState } from './processState';

const MOST_KNOWN = 10_000;

/** Remembers that an account has a transaction: this process has made or read it. */
export function rememberTransaction(account: Account, hash: string): void {
	const known = processState.knownTransactions;
	const entry = entryOf(account, hash);
	known.delete(entry);
	known.add(entry);
	for (const oldest of known) {
		if (known.size <= MOST_KNOWN) return;
		known.delete(oldest);
	}
}

/** Whether an account is known to have a transaction. False means unknown, not absent. */
export function isKnownTransaction(account: Account, hash: string): boolean {
	return processState.knownTransactions.has(entryOf(account, hash));
}

function entryOf({ key }: Account, hash: string): string {
	return `${key.slice(0, 16)} ${hash}`;
}
