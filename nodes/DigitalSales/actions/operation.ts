import type { Form } from '../form/formOf';
import type { ItemResult } from '../output/item';
import type { Run } from './run';

/**
 * What the node can do with an item, in steps: read, complete, check, send. All items of a run take each
 * step before any takes the next, so that a mistake in one of them is found before any is sent.
 */
export interface Operation<Read = unknown, Ready = Read> {
	/** In the drop-down; `action` is its sentence in the node panel. */
	name: string;
	value: string;
	action: string;
	description: string;
	/** Without display conditions for the operation: the registry adds them. */
	form: Pick<Form<never>, 'properties' | 'serviceFields'>;
	/** Shown before several items run through it. */
	manyItemsHint?: string;
	/**
	 * Whether it creates something. Then errors list what was created, and several items are under way
	 * at once: behind a refusal, the others may be created.
	 */
	creates: boolean;
	/** Whether each item is one read: many are under way at once. */
	readsEach?: true;
	/** Items with the lowest rank are sent first; by default they keep their order. */
	rank?(run: Run, itemIndex: number): number;
	/**
	 * Reads and checks the parameters of an item.
	 *
	 * @throws NodeOperationError that names the parameter
	 */
	read(run: Run, itemIndex: number): Read;
	/** Adds what the form leaves open; by default nothing. */
	complete?(run: Run, itemIndex: number, read: Read): Promise<Ready>;
	/** Looks for what is wrong once all items are complete; by default nothing is. */
	check?(run: Run, itemIndex: number, ready: Ready): Ready | Promise<Ready>;
	/** In words that help to look an item up after an error. */
	about?(ready: Ready): string | undefined;
	send(run: Run, itemIndex: number, ready: Ready): Promise<ItemResult[]>;
	/** Has the last word on the items of a run, failed ones included. */
	finish?: (run: Run, items: ItemResult[]) => Promise<ItemResult[]>;
}

export interface Resource {
	name: string;
	value: string;
	/** The form opens with the first one. */
	operations: [Operation, ...Operation[]];
}
