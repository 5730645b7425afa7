import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Form } from '../form/formOf';
import type { ItemResult } from '../output/transaction';
import type { Run } from './run';

/** One item that is ready to be sent. */
export interface PreparedItem {
	send: () => Promise<ItemResult[]>;
	/** In words that help to look it up after an error. */
	about?: string;
	/** Whether it will probably be refused. Then nothing of the run is sent before that is decided. */
	isSuspect?: () => boolean;
}

/** An item that is ready, or its next step; all items of a run take each step before any takes the next. */
export type Preparation = PreparedItem | (() => Promise<Preparation>);

export interface Operation {
	/** In the drop-down; `action` is its sentence in the node panel. */
	name: string;
	value: string;
	action: string;
	description: string;
	/** Without display conditions for the operation: the registry adds them. */
	form: Pick<Form<never>, 'properties' | 'serviceFields'>;
	/** Shown before several items run through it. */
	manyItemsHint?: string;
	/** Whether it creates something. Then errors list what was created. */
	creates: boolean;
	/** How many items may be under way at once; 1 by default. Behind a refusal, the others may be created. */
	atOnce?: number;
	/** Whether each item is one read: as many are under way at once as the service bears. */
	readsEach?: true;
	/**
	 * Reads and checks the parameters of one item. All items are prepared before the first is sent.
	 *
	 * @returns the item, or what else it needs once the forms of all items are found valid
	 * @throws NodeOperationError that names the parameter
	 */
	prepare: (run: Run, itemIndex: number) => Preparation;
	/** Has the last word on the items of a run, failed ones included. */
	finish?: (context: IExecuteFunctions, items: ItemResult[]) => Promise<INodeExecutionData[]>;
}

export interface Resource {
	name: string;
	value: string;
	/** The form opens with the first one. */
	operations: [Operation, ...Operation[]];
}
