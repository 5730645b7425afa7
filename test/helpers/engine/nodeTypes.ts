import {
	type ICredentialType,
	type IDataObject,
	type INodeType,
	type INodeTypeDescription,
	type INodeTypes,
	NodeConnectionTypes,
} from 'n8n-workflow';

export const ACTION_TYPE = 'n8n-nodes-digital-sales.digitalSales';
export const TRIGGER_TYPE = 'n8n-nodes-digital-sales.digitalSalesTrigger';

export interface Classes {
	DigitalSales: new () => INodeType;
	DigitalSalesTrigger: new () => INodeType;
	DigitalSalesApi: new () => ICredentialType;
	clearProcessState?: () => void;
}

const FILES = [
	'nodes/DigitalSales/DigitalSales.node',
	'nodes/DigitalSales/DigitalSalesTrigger.node',
	'credentials/DigitalSalesApi.credentials',
	'nodes/DigitalSales/shared/processState',
];

function load(): Classes {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded again for each NodeProcess
	const modules = FILES.map((file) => require(`../../../${file}`) as Partial<Classes>);
	return Object.assign({}, ...modules) as Classes;
}

/** The package in one n8n process, with its own copy of the modules. */
export class NodeProcess {
	/** By full type name. */
	readonly nodeTypes: Record<string, INodeType>;

	readonly credentialType: ICredentialType;

	/** Clears what the copy remembers. */
	readonly forget: () => void;

	constructor(classes: Classes = load()) {
		this.nodeTypes = {
			[ACTION_TYPE]: new classes.DigitalSales(),
			[TRIGGER_TYPE]: new classes.DigitalSalesTrigger(),
		};
		this.credentialType = new classes.DigitalSalesApi();
		this.forget = () => classes.clearProcessState?.();
	}

	/** n8n after a restart, or another worker of n8n. */
	static fresh(): NodeProcess {
		const fresh = (isInTest && spare.pop()) || loadAgain();
		if (isInTest) inUse.push(fresh);
		return fresh;
	}
}

/** Loading a copy takes longer than most tests, so a test gets those of earlier tests, which remember nothing. */
const spare: NodeProcess[] = [];
const inUse: NodeProcess[] = [];
let isInTest = false;

beforeEach(() => {
	isInTest = true;
});
afterEach(() => {
	isInTest = false;
	for (const process of inUse) process.forget();
	spare.push(...inUse.splice(0));
});

function loadAgain(): NodeProcess {
	let copy = defaultProcess;
	jest.isolateModules(() => {
		copy = new NodeProcess();
	});
	return copy;
}

/** The n8n process whose modules the test imports, too. */
export const defaultProcess = new NodeProcess();

/** A trigger that puts out the start items of the run. */
export const START_TYPE = 'n8n-nodes-base.manualTrigger';

export const NO_OP_TYPE = 'n8n-nodes-base.noOp';

/** A test double of a node. */
export function testDouble(
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

const passOn: INodeType['execute'] = async function () {
	return [this.getInputData()];
};

const BUILT_IN: Record<string, INodeType> = {
	[START_TYPE]: testDouble(passOn, 1, { group: ['trigger'], inputs: [] }),
	[NO_OP_TYPE]: testDouble(passOn),
};

export class HarnessNodeTypes implements INodeTypes {
	private readonly types: Record<string, INodeType>;

	constructor(process: NodeProcess, doubles: Record<string, INodeType> = {}) {
		this.types = { ...BUILT_IN, ...process.nodeTypes, ...doubles };
	}

	getByName(name: string): INodeType {
		const type = this.types[name];
		if (type === undefined) throw new Error(`No node type "${name}" in this test`);
		return type;
	}

	getByNameAndVersion(name: string): INodeType {
		return this.getByName(name);
	}

	getKnownTypes(): IDataObject {
		return {};
	}
}
