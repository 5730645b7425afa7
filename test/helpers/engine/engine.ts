import { logged, type LogEntry } from './environment';
import { createHash, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { ExecutionLifecycleHooks, ExternalSecretsProxy, WorkflowExecute } from 'n8n-core';
import { Container } from '@n8n/di';
import {
	deepCopy,
	Workflow,
	type ExecutionStatus,
	type ICredentialsHelper,
	type IConnections,
	type INode,
	type INodeExecutionData,
	type INodeType,
	type IRun,
	type IRunExecutionData,
	type ITaskData,
	type IWorkflowBase,
	type IWorkflowExecuteAdditionalData,
	type IWorkflowSettings,
	type NodeExecutionHint,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { HarnessCredentials, type CredentialData } from './credentials';
import { defaultProcess, HarnessNodeTypes, type NodeProcess } from './nodeTypes';
import './processedItems';
import { webServer } from './webServer';

/** A node as a test writes it; missing fields get the editor's defaults. */
export type NodeInput = Partial<INode> & Pick<INode, 'name' | 'type'>;

/** Where a workflow runs: its credentials, process and node types. */
export interface Surroundings {
	/** What a person typed into each credential, by credential type. */
	credentials?: CredentialData;
	/** The process whose node classes are used; the one shared with the test's imports by default. */
	process?: NodeProcess;
	/** Doubles by full type name. */
	nodeTypes?: Record<string, INodeType>;
}

/** A workflow as a test writes it. */
export interface WorkflowInput {
	id?: string;
	nodes: NodeInput[];
	/** By default, one chain in the order of the nodes. */
	connections?: IConnections;
	active?: boolean;
	settings?: IWorkflowSettings;
}

/** The result of a node in a run; of its last run, if it ran several times. */
export interface NodeRun {
	/** The items of the first output. */
	items: INodeExecutionData[];
	outputs: INodeExecutionData[][];
	error?: ITaskData['error'];
	/** The hints of all its runs. */
	hints: NodeExecutionHint[];
}

/** The result of a run. */
export interface RunOutcome {
	status: ExecutionStatus;
	/** By node name; nodes that did not run are missing. */
	data: Record<string, NodeRun>;
	error?: IRunExecutionData['resultData']['error'];
	hints: NodeExecutionHint[];
	/** Everything that was logged since the test began. */
	logs: LogEntry[];
	waitTill?: Date;
	/** The run as n8n would store it. */
	run: IRun;
}

/** A workflow that stays published, as n8n's database would store it. */
export class StoredWorkflow {
	readonly id: string;

	readonly base: IWorkflowBase;

	readonly nodeTypes: HarnessNodeTypes;

	readonly credentials: HarnessCredentials;

	constructor(
		input: WorkflowInput,
		private readonly surroundings: Surroundings,
	) {
		const { process = defaultProcess, nodeTypes, credentials } = surroundings;
		this.nodeTypes = new HarnessNodeTypes(process, nodeTypes);
		this.credentials = new HarnessCredentials(process.credentialType, credentials);
		this.id = input.id ?? randomUUID();
		const nodes = input.nodes.map((node, index) => this.complete(node, index));
		this.base = {
			id: this.id,
			name: 'Workflow under test',
			active: input.active ?? false,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			activeVersionId: null,
			nodes,
			connections: input.connections ?? chain(nodes),
			settings: input.settings ?? { executionOrder: 'v1' },
		};
	}

	/** The same workflow in another process: the two share only stored data. */
	in(process: NodeProcess): StoredWorkflow {
		return new StoredWorkflow(this.base, { ...this.surroundings, process });
	}

	/** The workflow as a process loads it for one use. */
	load(): Workflow {
		const { nodeTypes } = this;
		const workflow = new Workflow({ ...deepCopy(this.base), nodeTypes });
		// All executions share static data, and the last execution to end overwrites it.
		workflow.getStaticData = () => {
			throw new Error('No node of the package keeps anything in static data');
		};
		return workflow;
	}

	private complete(node: NodeInput, index: number): INode {
		const { description } = this.nodeTypes.getByName(node.type);
		const version = description.version;
		const used = (description.credentials ?? []).filter(
			({ name }) => name in (this.surroundings.credentials ?? {}),
		);
		return {
			// The same node of the same workflow has the same id in each run, as it does in n8n.
			id: createHash('sha256').update(`${this.id} ${node.name}`).digest('hex').slice(0, 36),
			typeVersion: Array.isArray(version) ? (version.at(-1) ?? 1) : version,
			position: [index * 200, 0],
			parameters: {},
			...(description.webhooks && { webhookId: randomUUID() }),
			...(used.length > 0 && {
				credentials: Object.fromEntries(
					used.map(({ name }) => [name, { id: `${name}-1`, name: `${name} of the test` }]),
				),
			}),
			...node,
		};
	}
}

/** Connects the nodes one after the other by their first outputs. */
export function chain(nodes: NodeInput[]): IConnections {
	return connect(
		Object.fromEntries(nodes.slice(1).map(({ name }, nth) => [String(nodes[nth]?.name), name])),
	);
}

/** Writes connections in short: for each node the next node, or one node per output. */
export function connect(wires: Record<string, string | string[]>): IConnections {
	const main = (next: string | string[]) =>
		[next].flat().map((node) => [{ node, type: 'main' as const, index: 0 }]);
	return Object.fromEntries(
		Object.entries(wires).map(([from, next]) => [from, { main: main(next) }]),
	);
}

/**
 * What n8n's server hands to the engine for a run, as far as it is used, with the addresses of this
 * file's server.
 */
export function createAdditionalData(
	credentials: HarnessCredentials,
	ids: { workflowId?: string; executionId?: string } = {},
): IWorkflowExecuteAdditionalData {
	const url = webServer.publicUrl ?? webServer.url();
	const used: Partial<IWorkflowExecuteAdditionalData> = {
		credentialsHelper: credentials as Partial<ICredentialsHelper> as ICredentialsHelper,
		externalSecretsProxy: Container.get(ExternalSecretsProxy),
		setExecutionStatus: () => {},
		currentNodeExecutionIndex: 0,
		variables: {},
		webhookBaseUrl: `${url}/webhook`,
		webhookWaitingBaseUrl: `${url}/webhook-waiting`,
		webhookTestBaseUrl: `${url}/webhook-test`,
		formWaitingBaseUrl: `${url}/form-waiting`,
		...ids,
	};
	return used as IWorkflowExecuteAdditionalData;
}

/** One run of a stored workflow, or one leg of a run that was parked in between. */
export interface Leg {
	stored: StoredWorkflow;
	mode: WorkflowExecuteMode;
	executionId: string;
	data: IRunExecutionData;
	signal?: AbortSignal;
}

/** Runs n8n's engine over the prepared data until it ends, fails, is canceled or parks itself. */
export async function runLeg(leg: Leg): Promise<RunOutcome> {
	const { stored, mode, executionId, data, signal } = leg;
	const workflow = stored.load();
	const ids = { workflowId: stored.id, executionId };
	const additionalData = createAdditionalData(stored.credentials, ids);
	additionalData.hooks = new ExecutionLifecycleHooks(mode, executionId, stored.base);
	const engine = new WorkflowExecute(additionalData, mode, data);
	const running = engine.processRunExecutionData(workflow);
	const cancel = (): void => running.cancel();
	signal?.addEventListener('abort', cancel);
	const run = await running;
	signal?.removeEventListener('abort', cancel);
	return readRun(run);
}

function readRun(run: IRun): RunOutcome {
	const data: Record<string, NodeRun> = {};
	for (const [name, runs] of Object.entries(run.data.resultData.runData)) {
		const last = runs.at(-1);
		const outputs = (last?.data?.main ?? []).map((items) => items ?? []);
		data[name] = {
			items: outputs[0] ?? [],
			outputs,
			error: last?.error,
			hints: runs.flatMap(({ hints }) => hints ?? []),
		};
	}
	return {
		status: run.status,
		data,
		hints: Object.values(data).flatMap(({ hints }) => hints),
		run,
		error: run.data.resultData.error,
		logs: logged,
		waitTill: run.waitTill ?? undefined,
	};
}

/** Everything that a run left behind, logs included, as one text, to search for forbidden text. */
export function everythingIn(outcome: RunOutcome): string {
	const options = { depth: Infinity, maxArrayLength: null, maxStringLength: null };
	return inspect({ ...outcome, logs: outcome.logs.map(({ text }) => text) }, options);
}
