import {
	NodeConnectionTypes,
	NodeHelpers,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type INodeTypes,
} from 'n8n-workflow';
import type { NodeProcess } from './nodeProcess';

/** The type of the node that hands the given items to the workflow. */
export const START_TYPE = 'n8n-nodes-base.manualTrigger';

/** A node that hands on what it gets; n8n's own "No Operation". */
export const NO_OP_TYPE = 'n8n-nodes-base.noOp';

class PassThrough implements INodeType {
	description: INodeTypeDescription;

	constructor(name: string, isStart: boolean) {
		this.description = {
			displayName: name,
			name,
			group: [isStart ? 'trigger' : 'transform'],
			version: 1,
			description: '',
			defaults: { name },
			inputs: isStart ? [] : [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			properties: [],
		};
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [this.getInputData()];
	}
}

const BUILT_IN: Record<string, INodeType> = {
	[START_TYPE]: new PassThrough(START_TYPE, true),
	[NO_OP_TYPE]: new PassThrough(NO_OP_TYPE, false),
};

/** The node types of a run: the given doubles first, then the package's own, then n8n's. */
export class HarnessNodeTypes implements INodeTypes {
	constructor(
		private readonly process: NodeProcess,
		private readonly doubles: Record<string, INodeType> = {},
	) {}

	getByName(name: string): INodeType {
		const type = this.doubles[name] ?? this.process.nodeType(name) ?? BUILT_IN[name];
		if (type === undefined) throw new Error(`No node type "${name}" in this test`);
		return type;
	}

	getByNameAndVersion(name: string, version?: number): INodeType {
		return NodeHelpers.getVersionedNodeType(this.getByName(name), version);
	}

	getKnownTypes(): IDataObject {
		return {};
	}
}
