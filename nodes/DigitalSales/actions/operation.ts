import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Form } from '../form';
import type { Run } from './run';

export interface OperationOutputs {
	/** As the canvas shows them. */
	names: string[];
	/** Sorts items, also failed ones, into the outputs. */
	sort(items: INodeExecutionData[]): INodeExecutionData[][];
}

interface Described<Values, Ready> {
	resource: 'transaction' | 'product' | 'offer';
	/** The label in the drop-down. */
	name: string;
	value: string;
	/** The title in the node panel, and the default name of the node. */
	action: string;
	description: string;
	/** The registry adds the conditions that show a field for the operation alone. */
	form: Form<Values>;
	manyItemsHint?: string;
	/** Throws if the operation cannot work, whatever its form says. */
	assertUsable?(context: IExecuteFunctions, itemIndex: number): void;
	/** Describes an item so that a person can look it up. */
	about?(ready: Ready): string;
	/** An operation without outputs of its own has one. */
	outputs?: OperationOutputs;
}

/** By item. */
export type ItemOutputs = Map<number, INodeExecutionData[]>;

/** Each item takes four steps: its form is read, completed, checked and sent. */
export interface ItemOperation<Values = unknown, Ready = Values, Checked = Ready>
	extends Described<Values, Ready> {
	/** A `read` needs one request, so many items run concurrently. A `list` may need many, so items run one by one. */
	kind: 'create' | 'read' | 'list';
	/** Prepares what the later steps need, in the result or in the run. */
	complete?(run: Run, form: Values): Ready | Promise<Ready>;
	check?(run: Run, itemIndex: number, ready: Ready): Checked | Promise<Checked>;
	send(run: Run, itemIndex: number, checked: Checked): Promise<INodeExecutionData[]>;
}

export interface ReadItem<Values> {
	itemIndex: number;
	form: Values;
}

/** All items take one step together once their forms are read, and the execution may wait. */
export interface WaitOperation<Values = unknown> extends Described<Values, Values> {
	kind: 'wait';
	/**
	 * @param fail ends the run, or under On Error: Continue the item
	 * @returns undefined if the execution waits
	 */
	runAll(
		run: Run,
		items: Array<ReadItem<Values>>,
		fail: (itemIndex: number, error: unknown) => void,
	): Promise<ItemOutputs | undefined>;
	/**
	 * Runs later if the credential cannot be loaded.
	 *
	 * @returns false if the run fails instead
	 */
	postpone(context: IExecuteFunctions): Promise<boolean>;
}

export type Operation<Values = unknown, Ready = Values, Checked = Ready> =
	| ItemOperation<Values, Ready, Checked>
	| WaitOperation<Values>;
