import memoize from 'lodash/memoize';
import {
	type ICredentialType,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type INodeTypes,
	NodeConnectionTypes,
	NodeHelpers,
} from 'n8n-workflow';

/** Where the classes of a process come from: a full type name, and how its class is loaded. */
export interface NodeSources {
	nodes: Record<string, () => INodeType>;
	credentials: Record<string, () => ICredentialType>;
}

/** The full name of the action node, as an installed package has it. */
export const ACTION_TYPE = 'n8n-nodes-digital-sales.digitalSales';

/** The full name of the trigger, as an installed package has it. */
export const TRIGGER_TYPE = 'n8n-nodes-digital-sales.digitalSalesTrigger';

/** The credential type of both. */
export const CREDENTIAL_TYPE = 'digitalSalesApi';

/** What the files of the package export. */
interface Classes {
	DigitalSales: new () => INodeType;
	DigitalSalesTrigger: new () => INodeType;
	DigitalSalesApi: new () => ICredentialType;
}

/* eslint-disable @typescript-eslint/no-require-imports -- loaded again for each process */
const DIGITAL_SALES: NodeSources = {
	nodes: {
		[ACTION_TYPE]: () => {
			const action = require('../../../../nodes/DigitalSales/DigitalSales.node') as Classes;
			return new action.DigitalSales();
		},
		[TRIGGER_TYPE]: () => {
			const trigger = require('../../../../nodes/DigitalSales/DigitalSalesTrigger.node') as Classes;
			return new trigger.DigitalSalesTrigger();
		},
	},
	credentials: {
		[CREDENTIAL_TYPE]: () => {
			const api = require('../../../../credentials/DigitalSalesApi.credentials') as Classes;
			return new api.DigitalSalesApi();
		},
	},
};
/* eslint-enable @typescript-eslint/no-require-imports */

/**
 * The package as one n8n process has it: one instance of each class, one state of its modules.
 * The process that tests use unless told otherwise shares its modules with the test's imports.
 */
export class NodeProcess {
	/** The node type of that full name, if this process has it. */
	readonly nodeType = memoize((name: string) => this.sources.nodes[name]?.());

	/** The credential type of that name, if this process has it. */
	readonly credentialType = memoize((name: string) => this.sources.credentials[name]?.());

	constructor(private readonly sources: NodeSources = DIGITAL_SALES) {}

	/** A process of its own: as after a restart, or as a second worker beside the first. */
	static fresh(): NodeProcess {
		const process = new NodeProcess();
		jest.isolateModules(() => {
			for (const name of [ACTION_TYPE, TRIGGER_TYPE]) process.nodeType(name);
			process.credentialType(CREDENTIAL_TYPE);
		});
		return process;
	}
}

/** The process of runs that name none. */
export const defaultProcess = new NodeProcess();

/** The type of the node that hands the given items to the workflow. */
export const START_TYPE = 'n8n-nodes-base.manualTrigger';

/** A node that hands on what it gets; n8n's own "No Operation". */
export const NO_OP_TYPE = 'n8n-nodes-base.noOp';

/** A node that does what a test says, with so many outputs. */
export function double(
	execute: INodeType['execute'],
	outputs = 1,
	more: Partial<INodeTypeDescription> = {},
): INodeType {
	return {
		description: {
			displayName: 'Double',
			name: 'double',
			group: ['transform'],
			version: 1,
			description: '',
			defaults: { name: 'Double' },
			inputs: [NodeConnectionTypes.Main],
			outputs: Array(outputs).fill(NodeConnectionTypes.Main) as INodeTypeDescription['outputs'],
			properties: [],
			...more,
		},
		execute,
	};
}

async function passOn(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return [this.getInputData()];
}

const BUILT_IN: Record<string, INodeType> = {
	[START_TYPE]: double(passOn, 1, { group: ['trigger'], inputs: [] }),
	[NO_OP_TYPE]: double(passOn),
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
