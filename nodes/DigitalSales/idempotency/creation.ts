import type { IDataObject } from 'n8n-workflow';
import type { Send } from '../api/client';
import type { NotSentError } from '../output/errors';
import type { ItemOrder } from './itemOrder';
import type { KeyedRequest, Keys } from './keys';
import type { Ledger } from './ledger';
import type { OverrideCodes } from './overrideCodes';
import type { Subject } from './refusals';

/** A charge or an offer that is created only once, however often it is requested. */
export interface Creation<T> extends Subject, KeyedRequest {
	itemOrder: ItemOrder;
	/** Why the request must not be sent. An existing result is returned nevertheless. */
	problem?: NotSentError;
	/** Yields a function for each try, once the rate limit admits the try. */
	tries: AsyncGenerator<Send<T>, void>;
	/** Reduces a result to the fields that `readAgain` needs. */
	toStoredResult: (made: T) => IDataObject;
	readAgain: (stored: IDataObject) => Promise<T>;
	/** Lists why the result whose hash a person entered cannot be the requested result. Missing if no hash can be entered. */
	findDifferences?: (made: T) => string[];
	/** Whether a result no longer blocks another creation, for example an expired charge. */
	isVoid: (made: T) => boolean;
}

export interface Created<T> {
	made: T;
	isExisting: boolean;
	/** Whether the service has used the hash of a new result before. */
	reusesHash: boolean;
}

/** A creation with its keys, and the ledger and codes that work with them. */
export interface KeyedCreation<T> {
	creation: Creation<T>;
	keys: Keys;
	/** Names this attempt, also in the ledger. */
	owner: string;
	/** Missing if n8n runs the node without a workflow, as its Agents do. */
	ledger: Ledger | undefined;
	/** The override codes of the order, or of customer and goods if there is no order. */
	codes: OverrideCodes;
}
