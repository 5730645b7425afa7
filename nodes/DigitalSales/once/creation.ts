import type { IDataObject } from 'n8n-workflow';
import type { Wanted } from './identity';
import type { Subject } from './refusals';

/** Something to be made only once, however often it is asked for. */
export interface Creation<T> extends Subject, Wanted {
	/** Cancels waiting for its turn. */
	signal: AbortSignal;
	/** The codes that the user typed to allow something in doubt to be made again. */
	repeatCode?: string;
	/** Those of them that items of this run will use; refusing what is in doubt adds to them. */
	codesInUse: string[];
	/** Makes it: sends the request. */
	create: () => Promise<T>;
	/** What is stored of it, to return it again. */
	keep: (made: T) => IDataObject;
	/** Returns what was made before. */
	again: (kept: IDataObject) => Promise<T>;
	/** Whether it has failed for good, such as an expired charge, so that its order is free again. */
	isVoid: (made: T) => boolean;
}

/** What was made, just now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
}
