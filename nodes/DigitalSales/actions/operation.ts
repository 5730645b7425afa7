import type { Form } from '../form/defineForm';
import type { ItemResult } from '../output/item';
import type { Run } from './run';

/**
 * An operation of the node, in four steps: read, complete, check, send. All items take a step before any
 * item takes the next one, so that a mistake in one item is found before any is sent.
 */
export interface Operation<Read = unknown, Ready = Read> {
	/** Its label in the drop-down. */
	name: string;
	value: string;
	/** Its title in the node panel, and the default name of the node. */
	action: string;
	description: string;
	/** Without display conditions for the operation: the registry adds them. */
	form: Pick<Form<never>, 'properties' | 'serviceFields'>;
	/** Shown before several items run through it. */
	manyItemsHint?: string;
	/**
	 * - `create`: a few items run concurrently, and errors list what was created.
	 * - `read`: each item is a single request, so many items run concurrently.
	 * - `list`: an item may need many requests, so items run one by one.
	 */
	kind: 'create' | 'read' | 'list';
	/** Items with the lowest rank are sent first; by default they keep their order. */
	rank?(run: Run, itemIndex: number): number;
	/**
	 * Reads and checks the parameters of an item.
	 *
	 * @throws NodeOperationError that names the parameter
	 */
	read(run: Run, itemIndex: number): Read;
	/** Fills in what the form leaves open. */
	complete?(run: Run, itemIndex: number, read: Read): Promise<Ready>;
	/** Refuses an item once all items are complete. */
	check?(run: Run, itemIndex: number, ready: Ready): Ready | Promise<Ready>;
	/** Describes an item for its error, so that a person can look it up. */
	about?(ready: Ready): string | undefined;
	send(run: Run, itemIndex: number, ready: Ready): Promise<ItemResult[]>;
	/** Processes the output of the whole run, including failed items. */
	finish?(run: Run, items: ItemResult[]): Promise<ItemResult[]>;
}

export interface Resource {
	name: string;
	value: string;
	/** The form opens with the first one. */
	operations: [Operation, ...Operation[]];
}
