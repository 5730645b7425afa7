import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { Account, Send } from '../api';
import { normalizeReference } from '../domain';
import { isRetry, Ledger } from '../n8n';
import type { NotSentError } from '../output';
import { digest } from '../shared';
import type { ExecutionMemory } from './memory';

/** What is asked for, by which item. */
export interface Subject {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	itemIndex: number;
	isAgentCall: boolean;
	/** Aborted once nothing more of the run is to be sent. Requests in flight go on. */
	signal: AbortSignal;
	/** Cancels what other items of the run have not sent yet, unless On Error is Continue. */
	stopOthers: () => void;
	kind: 'charge' | 'offer';
	/** Of customer, cart and amount, or of an offer. */
	fingerprint: string;
	/** Of a charge: its e-mail address and phone, because two employees may share the CNPJ of their company. */
	contactDigest?: string;
	/** Of a charge: identifies its customer, because an error shows nothing of another's charge. */
	customer?: string;
	orderReference?: string;
	/** What a decision calls the charge: its Order Reference, else its customer. Empty if neither has a name. */
	name: string;
	/** Describes it to a person: of a charge, cart, amount and last digits of the document. */
	about: string;
}

type Keys = ReturnType<typeof makeKeys>;

export interface Creation<T> extends Subject, Keys {
	/** Finds why the request must not be sent, by default nothing. An existing result is still returned. */
	findProblem?: () => NotSentError | undefined;
	/** Yields each try when the rate limiter permits it. Never ends, because the last try throws. */
	tries: AsyncGenerator<Send<T>, void>;
	/** Keeps the fields that `readAgain` needs. */
	toStoredResult: (made: T) => IDataObject;
	readAgain: (stored: IDataObject) => Promise<T>;
	/** Whether a result, such as an expired charge, is made again. */
	isVoid: (made: T) => boolean;
	/** What Options > Charges in Doubt says about this item. Without a hash, the charge is to be made. */
	decision?: { hash?: string };
	/** How a transaction differs from this request, for example "another amount". */
	findDifferences?: (made: T) => string[];
	/** The node ends after the task, but the item does not wait for it. */
	inBackground: (task: Promise<void>) => void;
}

export interface Created<T> {
	made: T;
	/** Not made for this item now: an earlier item, execution or attempt made it. */
	isExisting: boolean;
	/** Another item or execution has got it before: `already_charged`. */
	isReplayed: boolean;
	/** The void charge that this one replaces. */
	replacedHash?: string;
	isDecided?: boolean;
}

/** Called once for each item, in order, because it records which item asked first for an identity. */
export function makeKeys(subject: Subject) {
	const { context, account, memory, kind, fingerprint, contactDigest = '', itemIndex } = subject;
	const { id } = context.getWorkflow();
	// The node, not the account, because a new token must not charge earlier orders again. n8n's Agents run the node
	// without a workflow, and with another id each time.
	const scope = id ? [id, context.getNode().id] : [account.key];
	const makeKey = (name: string, ...parts: string[]) => `${name} ${digest(...scope, ...parts)}`;

	const ofExecution = makeKey('execution', kind, memory.origin, fingerprint, contactDigest);
	const reference = subject.orderReference && normalizeReference(subject.orderReference);
	const identity = reference ? makeKey('order', reference) : ofExecution;
	const unresolved = kind === 'charge' ? makeKey('unresolved', fingerprint) : undefined;
	const isFirst = memory.noteFirst(identity, itemIndex);
	const hasFormer = isRetry(context) && memory.noteFirst(ofExecution, itemIndex);

	return {
		/** Missing in n8n's Agents. */
		ledger: Ledger.forContext(context),
		/** What the item has got or attempted before. */
		own: memory.get(itemIndex),
		/** Finds the charge again: of the Order Reference, else of execution, fingerprint and contact. */
		identity,
		/** In a Retry: the identity without the Order Reference, in case the reference was added. */
		former: hasFormer ? ofExecution : undefined,
		/**
		 * Held while the outcome of a charge is unknown, and blocks all executions of the node. Its owner is the `key` of the
		 * attempt, not its id, because a later attempt on that key frees it. So it is claimed after that key, and freed before.
		 * A decision about another order's doubt frees it from any owner.
		 */
		unresolved,
		/** Whether no earlier item of the execution has asked for the identity. */
		isFirst,
	};
}

export function isOrderKey(key: string): boolean {
	return key.startsWith('order ');
}

/** The key of the charge that may follow this one, if it is void, gone or, without executions, old. Of the same kind. */
export function successor(key: string, hash: string): string {
	return `${key.split(' ')[0]} ${digest(key, hash)}`;
}

/** Their owners are fingerprint and execution of an order's charge. */
export const dataKey = (key: string): string => `${key} data`;
export const originKey = (key: string): string => `${key} origin`;

/**
 * Of a doubt about the order, else about the customer's cart, which other executions meet. Its owner is who told of the
 * doubt: an execution, or all in a minute.
 */
export function toldKey({ unresolved }: Keys, key: string): string {
	return `told ${digest(isOrderKey(key) ? key : (unresolved ?? key))}`;
}

/** Of the attempt that a decision about this doubt allows on this day. */
export const againKey = (told: string, day: string): string => `again ${digest(told, day)}`;
