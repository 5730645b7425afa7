import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Form } from '../form';
import type { Run } from './run';

/** In the order of the form. */
export const RESOURCES = ['transaction', 'product', 'offer'] as const;

interface Described<Values> {
	resource: (typeof RESOURCES)[number];
	/** The label in the drop-down. */
	name: string;
	value: string;
	/** The title in the node panel, and the default name of the node. */
	action: string;
	description: string;
	/** The registry adds the conditions that show a field for the operation alone. */
	form: Form<Values>;
	/** Shown before a run of several items, by default nothing. */
	manyItemsHint?: string;
	/** Throws if an agent's tool cannot work, whatever its form says. */
	assertUsableByAgent?(context: IExecuteFunctions): void;
}

/** What an item asks the platform to create. */
export interface Request {
	/** Describes the item in an error, so that a person can look it up. */
	about: string;
	/** Throws if the item must not be sent. All items are checked before the first is sent. */
	check(): Promise<void>;
	send(): Promise<INodeExecutionData[]>;
}

/** Each item takes four steps: its form is read, its request is prepared, checked and sent. */
export interface CreateOperation<Values = unknown> extends Described<Values> {
	kind: 'create';
	prepare(run: Run, itemIndex: number, form: Values): Request | Promise<Request>;
}

/** Once the forms of all items are read, each item reads. */
export interface ReadOperation<Values = unknown> extends Described<Values> {
	/** A `read` needs one request, so many items run concurrently. A `list` may need many, so items run one by one. */
	kind: 'read' | 'list';
	/** Describes the item in an error, by default nothing does. */
	about?(form: Values): string;
	read(run: Run, form: Values): Promise<INodeExecutionData[]>;
}

/** The outputs of items, by item. */
export type ItemOutputs = ReadonlyMap<number, INodeExecutionData[]>;

/** All items take one step together once their forms are read, and the execution may wait. */
export interface WaitOperation<Values = unknown> extends Described<Values> {
	kind: 'wait';
	outputs: {
		/** As the canvas shows them. */
		names: string[];
		/** Sorts items, also failed ones, into the outputs. */
		sort(items: INodeExecutionData[]): INodeExecutionData[][];
	};
	/**
	 * @param fail ends the run, or under On Error: Continue the item
	 * @returns undefined if the execution waits
	 */
	runAll(
		run: Run,
		forms: ReadonlyMap<number, Values>,
		fail: (itemIndex: number, error: unknown, about: string) => void,
	): Promise<ItemOutputs | undefined>;
	/**
	 * Runs later if the credential cannot be loaded.
	 *
	 * @returns false if the run fails instead
	 */
	postpone(context: IExecuteFunctions): Promise<boolean>;
}

export type Operation = CreateOperation | ReadOperation | WaitOperation;
