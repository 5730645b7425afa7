import type { IDataObject } from 'n8n-workflow';
import type { Send } from '../api';
import type { Ledger } from '../n8n';
import type { NotSentError } from '../output';
import type { ItemOrder } from './itemOrder';
import type { Keys, KeySource } from './keys';
import type { KeySequences } from './positions';

export interface Subject extends KeySource {
	kind: 'charge' | 'offer';
	/** Cart, amount and last digits of the document. */
	about: string;
	/** Override codes and hashes, from Options > Charge in Doubt or Code to Create Again. */
	enteredText?: string;
}

export interface Creation<T> extends Subject, Keys {
	itemOrder: ItemOrder;
	/** Why the request must not be sent. An existing result is still returned. */
	problem?: NotSentError;
	/** Yields each try when the rate limit admits it. */
	tries: AsyncGenerator<Send<T>, void>;
	/** Keeps the fields that `readAgain` needs. */
	toStoredResult: (made: T) => IDataObject;
	readAgain: (stored: IDataObject) => Promise<T>;
	/** Missing if no hash can be entered. */
	hashCheck?: {
		read: (hash: string) => Promise<T>;
		/** How the result of the hash differs from this request, for example "another amount". */
		findDifferences: (made: T) => string[];
	};
	/** Whether a result, such as an expired charge, may be created again. */
	isVoid: (made: T) => boolean;
}

export interface LedgerCreation<T> extends Creation<T> {
	/** The id of this attempt, which owns its keys in the ledger. */
	owner: string;
	enteredHashes: string[];
	ledger: Ledger | undefined;
	sequences: KeySequences;
}

export interface Created<T> {
	made: T;
	isExisting: boolean;
	/** False if a Retry finds its original's result, because that was never output. */
	isReplayed?: boolean;
	/** The void result that a new result replaces. */
	replacedHash?: string;
	/** The service answered with the hash of an earlier result. */
	hasKnownHash?: boolean;
}
