import { getSchema } from 'n8n-core/dist/execution-engine/node-execution-context/utils/create-node-as-tool';
import {
	deepCopy,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypeDescription,
	type IRunExecutionData,
	NodeConnectionTypes,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	ACTION_TYPE,
	connect,
	defaultProcess,
	NO_OP_TYPE,
	type NodeInput,
	runWorkflow,
	START_TYPE,
	testDouble,
	type WorkflowOutcome,
} from './engine';
import type { CredentialData } from './engine';

/** The name under which n8n offers the action node to agents. */
const TOOL_TYPE = `${ACTION_TYPE}Tool`;
const AGENT_TYPE = 'test.agent';
const TOOL = 'Digital Sales Tool';

/** A tool as an agent gets it from n8n. */
interface Tool {
	name: string;
	description: string;
	invoke: (args: IDataObject) => Promise<string>;
}

/** What an agent got from its tool: answers and errors, each in the order of the calls. */
export interface ToolRun {
	description: string;
	answers: IDataObject[][];
	errors: string[];
	outcome: WorkflowOutcome;
}

/** The action node as n8n turns it into a tool: under another name, with a tool output. */
function toolType(): INodeType {
	const action = defaultProcess.nodeTypes[ACTION_TYPE];
	if (!action) throw new Error('There is no action node');
	const description = {
		...deepCopy(action.description),
		name: 'digitalSalesTool',
		inputs: [],
		outputs: [NodeConnectionTypes.AiTool],
	};
	description.properties.unshift({
		displayName: 'Tool Description',
		name: 'descriptionType',
		type: 'options',
		options: [{ name: 'Set Automatically', value: 'auto' }],
		default: 'auto',
	});
	return Object.assign(Object.create(action) as INodeType, { description });
}

/** An agent without a model, which calls its tool with each of these arguments, one by one or all at once. */
function agentType(
	calls: IDataObject[],
	run: Omit<ToolRun, 'outcome'>,
	areAtOnce: boolean,
): INodeType {
	const inputs: INodeTypeDescription['inputs'] = [
		NodeConnectionTypes.Main,
		{ type: NodeConnectionTypes.AiTool, displayName: 'Tool', required: true },
	];
	const execute = async function (this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const [tool] = (await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0)) as Tool[];
		if (!tool) throw new Error('The agent has no tool');
		run.description = tool.description;
		const callOnce = async (call: IDataObject): Promise<void> => {
			try {
				run.answers.push(JSON.parse(await tool.invoke(call)) as IDataObject[]);
			} catch (error) {
				run.errors.push(error instanceof Error ? error.message : String(error));
			}
		};
		if (areAtOnce) await Promise.all(calls.map(callOnce));
		else for (const call of calls) await callOnce(call);
		return [[{ json: {} }]];
	};
	return testDouble(execute, 1, { inputs });
}

/** Lets an agent call the node as its tool with these arguments. */
export async function callTool(
	parameters: INodeParameters,
	calls: IDataObject[],
	options: {
		credentials: CredentialData;
		settings?: Partial<INode>;
		/** The node before the agent, and its output. */
		start?: { name: string; json: IDataObject; node?: Partial<NodeInput> };
		workflowId?: string;
		/** Empty without an execution. */
		executionId?: string;
		/** Settings of the node after the agent, which does nothing by default. */
		next?: Partial<NodeInput>;
		/** More nodes of the workflow. */
		others?: NodeInput[];
		mode?: WorkflowExecuteMode;
		/** The stored data of an execution that is retried. */
		retryOf?: IRunExecutionData;
		/** Whether the agent makes all calls at once. */
		areAtOnce?: boolean;
	},
): Promise<ToolRun> {
	const {
		settings,
		start = { name: 'Start', json: {} },
		next,
		others = [],
		areAtOnce = false,
	} = options;
	const run: Omit<ToolRun, 'outcome'> = { description: '', answers: [], errors: [] };
	const outcome = await runWorkflow({
		startItems: [start.json],
		id: options.workflowId,
		mode: options.mode,
		executionId: options.executionId,
		retryOf: options.retryOf,
		credentials: options.credentials,
		nodeTypes: { [TOOL_TYPE]: toolType(), [AGENT_TYPE]: agentType(calls, run, areAtOnce) },
		nodes: [
			{ type: START_TYPE, ...start.node, name: start.name },
			...others,
			{ name: 'Agent', type: AGENT_TYPE },
			{ type: NO_OP_TYPE, ...next, name: 'End' },
			{
				...settings,
				name: TOOL,
				type: TOOL_TYPE,
				parameters: { descriptionType: 'auto', ...parameters },
			},
		],
		connections: {
			...connect({ [start.name]: 'Agent', Agent: 'End' }),
			[TOOL]: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
		},
	});
	return { ...run, outcome };
}

/** The arguments of a tool as n8n describes them to a model: name and description. */
export function toolArguments(parameters: INodeParameters): Record<string, string> {
	const node = { name: TOOL, parameters } as INode;
	const { shape } = getSchema(node);
	return Object.fromEntries(
		Object.entries(shape).map(([name, field]) => [name, field.description ?? '']),
	);
}
