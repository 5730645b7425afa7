import { deepCopy, type INode, type IRunExecutionData, type ITaskData } from 'n8n-workflow';

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
