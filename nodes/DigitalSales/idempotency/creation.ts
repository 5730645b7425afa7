import type { IDataObject } from 'n8n-workflow';
import type { Send } from '../api/client';
import type { NotSentError } from '../output/errors';
import type { Identifiable } from './keys';
import type { OneByOne } from './oneByOne';
import type { Subject } from './refusals';

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Identifiable {
	/** Keeps it in order with the other items of its run. */
	oneByOne: OneByOne;
	/** What is wrong with it: what exists already is returned all the same. */
	problem?: NotSentError;
	/** The tries to make it. */
	tries: AsyncGenerator<Send<T>, void>;
	/** What is stored of it, to return it again. */
	keep: (made: T) => IDataObject;
	/** Returns what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether what the user names may be what is asked for; missing if nothing is read by its hash. */
	fits?: (made: T) => boolean;
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
