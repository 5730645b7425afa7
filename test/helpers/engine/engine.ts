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

/** Missing fields get the editor's defaults. */
export type NodeInput = Partial<INode> & Pick<INode, 'name' | 'type'>;

export interface Surroundings {
	credentials?: CredentialData;
	/** By default, the process that shares its modules with the test. */
	process?: NodeProcess;
	/** Test doubles, by full type name. */
	nodeTypes?: Record<string, INodeType>;
	workflowName?: string;
}

export interface WorkflowInput {
	id?: string;
	nodes: NodeInput[];
	/** By default, one chain of all nodes. */
	connections?: IConnections;
	active?: boolean;
	settings?: IWorkflowSettings;
}

/** The last run of a node. */
export interface NodeRun {
	/** The items of the first output. */
	items: INodeExecutionData[];
	outputs: INodeExecutionData[][];
	error?: ITaskData['error'];
	/** The hints of all runs of the node. */
	hints: NodeExecutionHint[];
}

export interface RunOutcome {
	status: ExecutionStatus;
	/** By node name, without nodes that did not run. */
	data: Record<string, NodeRun>;
	error?: IRunExecutionData['resultData']['error'];
	hints: NodeExecutionHint[];
	/** Everything that was logged since the test began. */
	logs: LogEntry[];
	waitTill?: Date;
	/** The run as n8n would store it. */
	run: IRun;
}

/** A workflow as n8n's database stores it. */
export class StoredWorkflow {
	readonly id: string;

	readonly base: IWorkflowBase;

	readonly nodeTypes: HarnessNodeTypes;

	readonly credentials: HarnessCredentials;

	constructor(private readonly input: Surroundings & WorkflowInput) {
		const { process = defaultProcess, nodeTypes, credentials } = input;
		this.nodeTypes = new HarnessNodeTypes(process, nodeTypes);
		this.credentials = new HarnessCredentials(process.credentialType, credentials);
		this.id = input.id ?? randomUUID();
		const nodes = input.nodes.map((node, index) => this.complete(node, index));
		this.base = {
			id: this.id,
			name: input.workflowName ?? 'Workflow under test',
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

	/** The same workflow in another process. */
	in(process: NodeProcess): StoredWorkflow {
		return new StoredWorkflow({ ...this.input, ...this.base, process });
	}

	/** A process loads the workflow for each run. */
	load(): Workflow {
		const { nodeTypes } = this;
		const workflow = new Workflow({ ...deepCopy(this.base), nodeTypes });
		// All executions share static data, and the last execution to end overwrites it.
		workflow.getStaticData = () => {
			throw new Error('A node used static data');
		};
		return workflow;
	}

	private complete(node: NodeInput, index: number): INode {
		const { description } = this.nodeTypes.getByName(node.type);
		const version = description.version;
		const used = (description.credentials ?? []).filter(
			({ name }) => name in (this.input.credentials ?? {}),
		);
		return {
			// As in n8n, a node has the same id in each run.
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

/** Wait for Payment leads to the next node by both of its outputs. */
export function chain(nodes: NodeInput[]): IConnections {
	const wires = nodes.slice(0, -1).map(({ name, parameters }, nth) => {
		const next = String(nodes[nth + 1]?.name);
		return [name, parameters?.operation === 'waitForPayment' ? [next, next] : next];
	});
	return connect(Object.fromEntries(wires) as Record<string, string | string[]>);
}

/** @param wires the next node of each node, or a node for each output */
export function connect(wires: Record<string, string | string[]>): IConnections {
	const main = (next: string | string[]) =>
		[next].flat().map((node) => [{ node, type: 'main' as const, index: 0 }]);
	return Object.fromEntries(
		Object.entries(wires).map(([from, next]) => [from, { main: main(next) }]),
	);
}

/** n8n's `additionalData` as far as the nodes use it, with addresses of `webServer`. */
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

/** A run, or the part of a run between two parkings. */
export interface Leg {
	stored: StoredWorkflow;
	mode: WorkflowExecuteMode;
	executionId: string;
	data: IRunExecutionData;
	signal?: AbortSignal;
}

/** Runs n8n's engine until the run ends, fails, is canceled or is parked. */
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

/** The whole outcome and its logs as text, in which a test searches for secrets. */
export function everythingIn(outcome: RunOutcome): string {
	const options = { depth: Infinity, maxArrayLength: null, maxStringLength: null };
	return inspect({ ...outcome, logs: outcome.logs.map(({ text }) => text) }, options);
}
