import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Form } from '../form';
import type { Run } from './run';

export interface OperationOutputs {
	/** As the canvas shows them. */
	names: string[];
	/** Sorts items, also failed ones, into the outputs. */
	sort(items: INodeExecutionData[]): INodeExecutionData[][];
}

/** Each item takes four steps: its form is read, completed, checked and sent. */
export interface Operation<Values = unknown, Ready = Values, Checked = Ready> {
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
	/** A `read` needs one request, so many items run concurrently. A `list` may need many, so items run one by one. */
	kind: 'create' | 'read' | 'list';
	/** The lowest rank is sent first. */
	rank?(run: Run, itemIndex: number): number;
	/** Throws if the operation cannot work, whatever its form says. */
	assertUsable?(context: IExecuteFunctions, itemIndex: number): void;
	/** Prepares what the later steps need, in the result or in the run. */
	complete?(run: Run, form: Values): Ready | Promise<Ready>;
	check?(run: Run, itemIndex: number, ready: Ready): Checked | Promise<Checked>;
	/** Describes an item so that a person can look it up. */
	about?(ready: Ready): string;
	send(run: Run, itemIndex: number, checked: Checked): Promise<INodeExecutionData[]>;
	/** Processes the output of the whole run, including failed items. */
	finish?(run: Run, items: INodeExecutionData[]): Promise<INodeExecutionData[]>;
	/**
	 * Runs later if the credential cannot be loaded.
	 *
	 * @returns false if the run fails instead
	 */
	postpone?(context: IExecuteFunctions): Promise<boolean>;
	/** An operation without outputs of its own has one. */
	outputs?: OperationOutputs;
}
