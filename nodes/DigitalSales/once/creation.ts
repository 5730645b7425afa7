import type { IDataObject } from 'n8n-workflow';
import type { Send } from '../api/client';
import type { Refusal } from '../output/errors';
import type { Identifiable } from './identity';
import type { OneByOne } from './oneByOne';
import type { Subject } from './refusals';

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Identifiable {
	/** Keeps it in order with the other items of its run. */
	oneByOne: OneByOne;
	/** What the user typed of something in doubt: codes that allow it again, hashes of what exists. */
	repeatCode?: string;
	/**
	 * Says how something that the user names by its hash differs from what is asked for, in words that
	 * continue "Transaction abc". Missing if nothing can be read by its hash.
	 */
	mismatch?: (made: T) => string | undefined;
	/** What is wrong with it: what exists already is returned all the same. */
	problem?: Refusal;
	/** The tries to make it. */
	tries: AsyncGenerator<Send<T>, void>;
	/** What is stored of it, to return it again. */
	keep: (made: T) => IDataObject;
	/** Returns what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether it can no longer be paid, such as an expired charge: then it guards nothing. */
	isVoid: (made: T) => boolean;
}

/** What was made, just now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
	/** Whether the service has given its hash for something else before. */
	isRepeated: boolean;
}
