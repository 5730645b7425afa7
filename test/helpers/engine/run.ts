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
import { StoredRun } from './waiting';

/**
 * Prepares stored data for a Retry as n8n does: without the error and without the failed run of the last node, and with
 * the nodes of the current workflow.
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
 * Recovers stored data as n8n does after its process was killed.
 *
 * @param nodes the nodes that had begun, in the order of the workflow
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

export interface RunOptions extends Surroundings {
	/** The JSON of the first node's items, by default of one empty item. */
	startItems?: IDataObject[];
	/** `manual` by default, as for Execute workflow. */
	mode?: WorkflowExecuteMode;
	/** The stored data of the execution to retry, which replaces `startItems`. */
	retryOf?: IRunExecutionData;
	/** The next number by default. */
	executionId?: string;
	/** Cancels the run, as the stop button does. */
	signal?: AbortSignal;
}

export interface WorkflowOutcome extends RunOutcome {
	/** Only if a node has parked the run. */
	parked?: StoredRun;
	/** The data that n8n stored when the execution began. */
	begun: IRunExecutionData;
}

export type RunHandle<T> = Promise<T> & { cancel: () => void };

let executionCount = 0;

export function nextExecutionId(): string {
	executionCount += 1;
	return String(executionCount);
}

/** Runs a workflow in n8n's engine. Does not reject if the run fails, is canceled or is parked. */
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
	const stored = new StoredWorkflow(options);
	const [node] = stored.base.nodes;
	if (node === undefined) throw new Error('The workflow has no node to start at');
	const main = [startItems.map((json) => ({ json }))];
	const data = retryOf
		? retryData(retryOf, stored.base.nodes)
		: createRunExecutionData({
				executionData: { nodeExecutionStack: [{ node, data: { main }, source: null }] },
			});
	const begun = deepCopy(data);
	const run = new StoredRun(stored, retryOf ? 'retry' : mode, executionId, signal);
	const outcome = { ...(await run.start(data)), begun };
	return outcome.status === 'waiting' ? { ...outcome, parked: run } : outcome;
}

export interface NodeRunOptions extends Omit<RunOptions, 'startItems'> {
	/** The JSON of the input items, by default of one empty item. */
	items?: IDataObject[];
	continueOnFail?: boolean;
	/** Other settings of the node, such as `onError`, `retryOnFail` or `alwaysOutputData`. */
	settings?: Partial<INode>;
	/** The full type name, by default of the action node. */
	type?: string;
	name?: string;
	/** Nodes after this node. */
	next?: NodeInput[];
	/** Nodes without connections. */
	beside?: NodeInput[];
	/** By default, each run has a workflow of its own. */
	workflowId?: string;
}

/** The outcome of the run, and what the node did. */
export interface NodeOutcome extends WorkflowOutcome {
	/** The first output, which is empty if the node failed. */
	items: INodeExecutionData[];
	/** The JSON of the first output. */
	json: IDataObject[];
	outputs: INodeExecutionData[][];
	node?: NodeRun;
}

/** Runs one node after a start node that puts out the items. */
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
