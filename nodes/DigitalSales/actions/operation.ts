import type {
	IBinaryKeyData,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import type { FormAdvice } from '../api/wording';
import type { Form } from '../form/formOf';
import type { ItemResult, PendingPayment } from '../wait/suspend';
import type { Run } from './run';

/** One output item of an operation, before it is paired with its input item. */
export interface Output {
	json: IDataObject;
	binary?: IBinaryKeyData;
	/** What the item still waits for. */
	pending?: PendingPayment;
}

/** One item that is found valid and ready to be sent. */
export interface PreparedItem {
	send: () => Promise<Output[]>;
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
	/** Without display conditions for the operation: the registry adds them. */
	form: Pick<Form<never>, 'properties' | 'serviceFields'>;
	/** What its options can do about a request that failed. */
	advice?: FormAdvice;
	/** What a person should know before several items run through it. */
	manyItemsHint?: string;
	/** Whether it creates something. Then errors list what was created, and items go one by one. */
	creates: boolean;
	/** How many items may be under way at once, if it creates nothing. */
	itemsAtOnce?: number;
	/**
	 * Reads and checks the parameters of one item. All items are prepared before the first is sent, so
	 * a mistake in any of them sends nothing.
	 *
	 * @returns the item, or what looks up the rest of it once all forms are found valid; only reads
	 * @throws NodeOperationError that names the parameter
	 */
	prepare: (run: Run, itemIndex: number) => PreparedItem | (() => Promise<PreparedItem>);
	/** Has the last word on the items of a run, failed ones included. */
	finish?: (context: IExecuteFunctions, items: ItemResult[]) => Promise<INodeExecutionData[]>;
}

/** A resource of the service with its operations. */
export interface Resource {
	name: string;
	value: string;
	/** The first one is what the form opens with. */
	operations: [Operation, ...Operation[]];
}
