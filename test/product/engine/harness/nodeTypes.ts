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

type Constructor<T> = new () => T;

/** The full name of the action node, as an installed package has it. */
export const ACTION_TYPE = 'n8n-nodes-digital-sales.digitalSales';

/** The full name of the trigger, as an installed package has it. */
export const TRIGGER_TYPE = 'n8n-nodes-digital-sales.digitalSalesTrigger';

/** The credential type of both. */
export const CREDENTIAL_TYPE = 'digitalSalesApi';

/* eslint-disable @typescript-eslint/no-require-imports -- loaded again for each process */
const DIGITAL_SALES: NodeSources = {
	nodes: {
		[ACTION_TYPE]: () => {
			const loaded = require('../../../../nodes/DigitalSales/DigitalSales.node') as {
				DigitalSales: Constructor<INodeType>;
			};
			return new loaded.DigitalSales();
		},
		[TRIGGER_TYPE]: () => {
			const loaded = require('../../../../nodes/DigitalSales/DigitalSalesTrigger.node') as {
				DigitalSalesTrigger: Constructor<INodeType>;
			};
			return new loaded.DigitalSalesTrigger();
		},
	},
	credentials: {
		[CREDENTIAL_TYPE]: () => {
			const loaded = require('../../../../credentials/DigitalSalesApi.credentials') as {
				DigitalSalesApi: Constructor<ICredentialType>;
			};
			return new loaded.DigitalSalesApi();
		},
	},
};
/* eslint-enable @typescript-eslint/no-require-imports */

/**
 * The package as one n8n process has it: one instance of each class, one state of its modules.
 * The process that tests use unless told otherwise shares its modules with the test's imports.
 */
export class NodeProcess {
	private readonly nodes = new Map<string, INodeType>();

	private readonly credentials = new Map<string, ICredentialType>();

	constructor(private readonly sources: NodeSources = DIGITAL_SALES) {}

	/** A process of its own: as after a restart, or as a second worker beside the first. */
	static fresh(sources: NodeSources = DIGITAL_SALES): NodeProcess {
		const process = new NodeProcess(sources);
		jest.isolateModules(() => {
			for (const name of Object.keys(sources.nodes)) process.nodeType(name);
			for (const name of Object.keys(sources.credentials)) process.credentialType(name);
		});
		return process;
	}

	/** The sources, to start another process from them. */
	get origin(): NodeSources {
		return this.sources;
	}

	/** The node type of that full name, if this process has it. */
	nodeType(name: string): INodeType | undefined {
		return load(this.nodes, this.sources.nodes, name);
	}

	/** The credential type of that name, if this process has it. */
	credentialType(name: string): ICredentialType | undefined {
		return load(this.credentials, this.sources.credentials, name);
	}
}

function load<T>(
	loaded: Map<string, T>,
	sources: Record<string, () => T>,
	name: string,
): T | undefined {
	const known = loaded.get(name);
	if (known !== undefined) return known;
	const created = sources[name]?.();
	if (created !== undefined) loaded.set(name, created);
	return created;
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
