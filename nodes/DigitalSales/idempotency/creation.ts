import type { IDataObject } from 'n8n-workflow';
import type { Send } from '../api/client';
import type { NotSentError } from '../output/errors';
import type { ItemOrder } from './itemOrder';
import type { KeyedRequest, Keys } from './keys';
import type { Ledger } from './ledger';
import type { OverrideCodes } from './overrideCodes';
import type { Subject } from './refusals';

/** Something that is made only once, however often it is requested. */
export interface Creation<T> extends Subject, KeyedRequest {
	/** Keeps the items of its run in order. */
	itemOrder: ItemOrder;
	/** Why it must not be sent. An existing result is returned all the same. */
	problem?: NotSentError;
	/** The tries to make it. */
	tries: AsyncGenerator<Send<T>, void>;
	/** Reduces a result to what is stored, so that it can be read again. */
	toStoredResult: (made: T) => IDataObject;
	readAgain: (stored: IDataObject) => Promise<T>;
	/** Whether a result that the user names can be the one that is requested. Missing if no result can be named. */
	matchesRequest?: (made: T) => boolean;
	/** Whether a result can no longer be paid, such as an expired charge. It no longer blocks another one. */
	isVoid: (made: T) => boolean;
}

/** A result that was made now or before. */
export interface Created<T> {
	made: T;
	isExisting: boolean;
	/** Whether the service used its hash before, for something else. */
	reusesHash: boolean;
}

/** A creation with its keys, and the places that know them. */
export interface KeyedCreation<T> {
	creation: Creation<T>;
	keys: Keys;
	/** Names this attempt, also in the ledger. */
	owner: string;
	/** Missing if n8n runs the node without a workflow, as its Agents do. */
	ledger: Ledger | undefined;
	/** The codes of the order, or of customer and goods if there is no order. */
	codes: OverrideCodes;
}
