import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { Account } from '../api/account';
import type { CatalogLookup } from '../api/catalogLookup';
import type { Client, ClientOptions } from '../api/client';
import type { FormAdvice } from '../api/wording';
import type { ExecutionMemory } from '../once/executionMemory';
import type { PendingPayment } from '../wait/suspend';

/** One output item of an operation, before it is paired with its input item. */
export interface Output {
	json: IDataObject;
	binary?: IBinaryKeyData;
	/** What the item still waits for. Where an item waits, the whole execution is parked. */
	pending?: PendingPayment;
}

/** What an operation may use while it works on one item. */
export interface ItemRun {
	client: Client;
	/** What this execution has made before. */
	memory: ExecutionMemory;
	/** Shows a hint in the output panel, once a run however often it is given. */
	hint: (message: string) => void;
}

/** One item whose parameters have all been read and found valid; nothing has been sent yet. */
export interface PreparedItem {
	/**
	 * Looks up what the form leaves to the catalog, and gives the item with it. All items are complete
	 * before the first is sent. Only reads, and what cannot be found stays as it is.
	 *
	 * @throws NodeOperationError where what was found makes the item invalid
	 */
	complete?: (catalog: CatalogLookup, hint: ItemRun['hint']) => Promise<PreparedItem>;
	send: (run: ItemRun) => Promise<Output[]>;
	clientOptions?: ClientOptions;
	/** What it is about, in words that help to look it up after an error. */
	about?: string;
}

/** One operation: its form and what it does, side by side. */
export interface Operation {
	/** Its name in the drop-down, its value, its sentence in the node panel. */
	name: string;
	value: string;
	action: string;
	description: string;
	/** The form, without display conditions: the registry adds them. */
	properties: INodeProperties[];
	/** The parameter behind a dotted field of the service, `*` for any number: for error texts. */
	serviceFields: Readonly<Record<string, string>>;
	/** What its options can do about a request that failed. */
	advice?: FormAdvice;
	/** What a person should know before several items run through it. */
	manyItemsHint?: string;
	/**
	 * Whether it creates something. Then an error says what the items before have created, and only
	 * one item is under way at a time.
	 */
	creates: boolean;
	/** How many items may be under way at once, where it creates nothing. */
	itemsAtOnce?: number;
	/**
	 * Reads and checks the parameters of one item. All items are prepared before the first is sent,
	 * so that bad input in one of them sends nothing.
	 *
	 * @throws NodeOperationError that names the parameter
	 */
	prepare: (context: IExecuteFunctions, itemIndex: number, account: Account) => PreparedItem;
}

/** A resource of the service with its operations. */
export interface Resource {
	name: string;
	value: string;
	/** The first one is what the form opens with. */
	operations: [Operation, ...Operation[]];
}
