import {
	createRunExecutionData,
	deepCopy,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type IRunExecutionData,
	type ITaskData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	chain,
	type NodeInput,
	type NodeRun,
	type RunOutcome,
	StoredWorkflow,
	type Surroundings,
	type WorkflowInput,
} from './engine';
import { ACTION_TYPE, START_TYPE } from './nodeTypes';
import { ParkedRun } from './waiting';

/**
 * What n8n's Retry makes of the stored data of an execution: the error and the failed run of the last
 * node are taken out, and the nodes are those of the workflow as it is now.
 */
export function retryData(stored: IRunExecutionData, nodes: INode[]): IRunExecutionData {
	const data = deepCopy(stored);
	const { resultData, executionData } = data;
	const { lastNodeExecuted } = resultData;
	if (lastNodeExecuted !== undefined) {
		delete resultData.error;
		const runs = resultData.runData[lastNodeExecuted];
		if (runs?.at(-1)?.error !== undefined) runs.pop();
	}
	for (const entry of executionData?.nodeExecutionStack ?? []) {
		entry.node = nodes.find(({ name }) => name === entry.node.name) ?? entry.node;
	}
	return data;
}

/**
 * What n8n's recovery makes of the data that it stored when an execution began, after the process was
 * killed: a run without data for each node that had begun, in the order of the workflow's nodes.
 */
export function crashedData(
	begun: IRunExecutionData,
	nodes: Array<{ name: string; finished: boolean }>,
): IRunExecutionData {
	const data = deepCopy(begun);
	for (const { name, finished } of nodes) {
		const run: ITaskData = {
			startTime: 0,
			executionIndex: 0,
			executionTime: 0,
			source: [null],
			executionStatus: finished ? 'success' : 'crashed',
			...(finished
				? { data: { main: [[{ json: {} }]] } }
				: { error: { name: 'NodeCrashedError', message: 'Node crashed' } as ITaskData['error'] }),
		};
		data.resultData.runData[name] = [run];
		data.resultData.lastNodeExecuted = name;
	}
	return data;
}

/** How a run is started. */
export interface RunOptions extends Surroundings {
	/** The JSON of the items that the first node hands on; one empty item by default. */
	startItems?: IDataObject[];
	/** `manual` by default, as when somebody presses "Execute workflow". */
	mode?: WorkflowExecuteMode;
	/** The stored data of an execution that is retried; its items count then. */
	retryOf?: IRunExecutionData;
	/** The next number by default. */
	executionId?: string;
	/** Cancels the run, as its stop button does. */
	signal?: AbortSignal;
}

/** What a started run came to so far. */
export interface WorkflowOutcome extends RunOutcome {
	/** The run to be resumed, where a node has put it to wait. */
	parked?: ParkedRun;
	/** What n8n stored of the execution when it began. */
	begun: IRunExecutionData;
}

/** A run under way: a promise of its outcome that can be canceled. */
export type RunHandle<T> = Promise<T> & { cancel: () => void };

let executionCount = 0;

/** The number of the next run of this test file. */
export function nextExecutionId(): string {
	executionCount += 1;
	return String(executionCount);
}

/**
 * Runs a workflow in n8n's engine. A failed, canceled or parked run is an outcome, not a rejection.
 */
export function runWorkflow(options: RunOptions & WorkflowInput): RunHandle<WorkflowOutcome> {
	const canceling = new AbortController();
	const signals = [canceling.signal, ...(options.signal ? [options.signal] : [])];
	const running = start(options, AbortSignal.any(signals));
	return Object.assign(running, { cancel: () => canceling.abort() });
}

async function start(
	options: RunOptions & WorkflowInput,
	signal: AbortSignal,
): Promise<WorkflowOutcome> {
	const { mode = 'manual', executionId = nextExecutionId(), startItems = [{}], retryOf } = options;
	const stored = new StoredWorkflow(options, options);
	const [node] = stored.base.nodes;
	if (node === undefined) throw new Error('The workflow has no node to start at');
	const main = [startItems.map((json) => ({ json }))];
	const data = retryOf
		? retryData(retryOf, stored.base.nodes)
		: createRunExecutionData({
				executionData: { nodeExecutionStack: [{ node, data: { main }, source: null }] },
			});
	const begun = deepCopy(data);
	const run = new ParkedRun(stored, retryOf ? 'retry' : mode, executionId, signal);
	const outcome = { ...(await run.start(data)), begun };
	return outcome.status === 'waiting' ? { ...outcome, parked: run } : outcome;
}

/** How a single node is run. */
export interface NodeRunOptions extends Omit<RunOptions, 'startItems'> {
	/** The JSON of the input items; one empty item by default. */
	items?: IDataObject[];
	/** The node's "On Error: Continue". */
	continueOnFail?: boolean;
	/** Other settings of the node, such as `onError`, `retryOnFail` or `alwaysOutputData`. */
	settings?: Partial<INode>;
	/** The full type name; the action node by default. */
	type?: string;
	/** The node's name, "Digital Sales" by default. */
	name?: string;
	/** Nodes behind it. */
	next?: NodeInput[];
	/** Nodes of its workflow that are connected to none. */
	beside?: NodeInput[];
	/** The workflow's id, for runs of one and the same workflow; each run has its own by default. */
	workflowId?: string;
}

/** What a run of a single node came to: the node's own part, and that of the whole run. */
export interface NodeOutcome extends WorkflowOutcome {
	/** The node's first output; empty where it failed. */
	items: INodeExecutionData[];
	/** The JSON of the first output. */
	json: IDataObject[];
	outputs: INodeExecutionData[][];
	node?: NodeRun;
}

/** Runs one node with the given parameters behind a start node that hands it the items. */
export function runNode(
	parameters: INodeParameters,
	options: NodeRunOptions = {},
): RunHandle<NodeOutcome> {
	const { name = 'Digital Sales', type = ACTION_TYPE, next = [], beside = [], ...more } = options;
	const { items, continueOnFail, settings, workflowId, ...surroundings } = more;
	const onError = continueOnFail === true ? 'continueRegularOutput' : undefined;
	const node: NodeInput = { onError, ...settings, name, type, parameters };
	const connected = [{ name: 'Start', type: START_TYPE }, node, ...next];
	const running = runWorkflow({
		...surroundings,
		startItems: items,
		id: workflowId,
		nodes: [...connected, ...beside],
		connections: chain(connected),
	});
	const outcome = running.then((run): NodeOutcome => {
		const node = run.data[name];
		const { items: first = [], outputs = [] } = node ?? {};
		return { ...run, node, items: first, json: first.map(({ json }) => json), outputs };
	});
	return Object.assign(outcome, { cancel: running.cancel });
}
