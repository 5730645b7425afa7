import { logged } from './environment';
import { HookContext } from 'n8n-core';
import {
	createRunExecutionData,
	deepCopy,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type IRunExecutionData,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
	type IWorkflowSettings,
	type Workflow,
	type WorkflowActivateMode,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import {
	createAdditionalData,
	runLeg,
	StoredWorkflow,
	type NodeInput,
	type RunOutcome,
	type Surroundings,
} from './engine';
import { postJson, sendRequest, type HttpAnswer, type HttpCall } from '../http';
import { NodeProcess, TRIGGER_TYPE } from './nodeTypes';
import { nextExecutionId, retryData } from './run';
import { StoredRun } from './waiting';
import {
	callWebhook,
	HttpError,
	webhooksOf,
	type WebRequest,
	type WebResponse,
	webServer,
} from './webServer';

const NAME = 'Digital Sales Trigger';

export interface TriggerOptions extends Surroundings {
	parameters?: INodeParameters;
	/** Why n8n registers the trigger, by default because a person publishes it. */
	activation?: WorkflowActivateMode;
	/** `test` is Execute step, which ends after one webhook. */
	mode?: 'production' | 'test';
	/** Nodes after the trigger. */
	next?: NodeInput[];
	/** More fields of the node, such as the ids of a node that is published again. */
	settings?: Partial<NodeInput>;
	workflowSettings?: IWorkflowSettings;
}

/** A published workflow that starts with the trigger. */
export class PublishedTrigger {
	/** The items of each execution in which the trigger put out items. */
	readonly emitted: INodeExecutionData[][] = [];

	/** The errors that the `webhook` method threw. n8n answers 500 and starts a failed execution. */
	readonly thrown: Error[] = [];

	/** The outcome of each execution once it has ended, also of those that put out no item. */
	readonly outcomes: Array<Promise<RunOutcome>> = [];

	/** The executions that have waited for reads to show a status. */
	readonly waiting: StoredRun[] = [];

	/** The data that n8n stored when each execution began. */
	readonly begun: IRunExecutionData[] = [];

	/** The number of next executions that n8n cannot store, so that it answers 500. */
	failingStores = 0;

	/** n8n stores no execution until this resolves. */
	storing: Promise<void> | undefined;

	/** The number of executions that n8n has begun to store. */
	storesBegun = 0;

	readonly logs = logged;

	/** The workflow in each process except the first. */
	private readonly others: StoredWorkflow[] = [];

	private requests = 0;

	private readonly handling = new Set<Promise<void>>();

	private path?: string;

	private constructor(
		private stored: StoredWorkflow,
		private readonly mode: 'production' | 'test',
		readonly url: string,
	) {}

	/** Creates the workflow without publishing it. */
	static async prepare(options: TriggerOptions): Promise<PublishedTrigger> {
		const { mode = 'production', parameters = {}, settings, next = [] } = options;
		const trigger = { ...settings, name: NAME, type: TRIGGER_TYPE, parameters };
		const stored = new StoredWorkflow({
			...options,
			nodes: [trigger, ...next],
			active: mode === 'production',
			settings: { executionOrder: 'v1', ...options.workflowSettings },
		});
		const additionalData = createAdditionalData(stored.credentials);
		const { path } = webhookOf(stored.load(), additionalData);
		const { webhookBaseUrl, webhookTestBaseUrl } = additionalData;
		const base = mode === 'test' ? webhookTestBaseUrl : webhookBaseUrl;
		return new PublishedTrigger(stored, mode, `${base}/${path}`);
	}

	/** Calls `checkExists` and `create`, as n8n does when it publishes a workflow and when it starts. */
	async activate(activation: WorkflowActivateMode = 'activate'): Promise<void> {
		const isTest = this.mode === 'test';
		const [mode, reason] = isTest
			? (['manual', 'manual'] as const)
			: (['trigger', activation] as const);
		const exists = await this.callHook('checkExists', mode, reason);
		if (exists !== true) await this.callHook('create', mode, reason);
	}

	/** Stops listening and calls `delete`, as n8n does when a workflow is unpublished. */
	async deactivate(): Promise<void> {
		this.stopListening();
		await this.callHook('delete', 'internal', 'update');
	}

	listen(): void {
		this.path = new URL(this.url).pathname;
		webServer.handle(this.path, async (request, response) => {
			const handled = this.answer(request, response);
			this.handling.add(handled);
			await handled.finally(() => this.handling.delete(handled));
		});
	}

	/** Does not call `delete`, like an n8n that ends. */
	stopListening(): void {
		if (this.path !== undefined) webServer.forget(this.path);
		this.path = undefined;
	}

	async post(body: unknown): Promise<HttpAnswer> {
		return await postJson(this.url, body);
	}

	/** Sends the request as it is, even without a content type or with a broken body. */
	async send(call: HttpCall): Promise<HttpAnswer> {
		return await sendRequest(this.url, call);
	}

	/** Restarts n8n with one process. */
	async restart(): Promise<void> {
		this.stored = this.stored.in(NodeProcess.fresh());
		this.others.length = 0;
		for (const run of this.waiting) run.moveTo(this.stored);
		await this.activate('init');
	}

	/** Requests go to all processes in turn. */
	addProcess(): void {
		this.others.push(this.stored.in(NodeProcess.fresh()));
	}

	/** Retries an execution that crashed. */
	async retry(begun: IRunExecutionData): Promise<RunOutcome> {
		return await this.run(this.stored, 'retry', retryData(begun, this.stored.base.nodes));
	}

	/** Waits until all webhooks are answered and all executions have ended. */
	async settled(): Promise<RunOutcome[]> {
		await Promise.allSettled(this.handling);
		return await Promise.all(this.outcomes);
	}

	private webhookData(workflow: Workflow, method = 'POST'): IWebhookData {
		const ids = { workflowId: workflow.id };
		const additionalData = createAdditionalData(this.stored.credentials, ids);
		return { ...webhookOf(workflow, additionalData, method), isTest: this.mode === 'test' };
	}

	private async callHook(
		method: 'checkExists' | 'create' | 'delete',
		mode: WorkflowExecuteMode,
		activation: WorkflowActivateMode,
	): Promise<boolean | undefined> {
		const workflow = this.stored.load();
		const webhook = this.webhookData(workflow);
		const node = nodeIn(Object.values(workflow.nodes));
		const type = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
		const hook = type.webhookMethods?.[webhook.webhookDescription.name]?.[method];
		const { workflowExecuteAdditionalData } = webhook;
		return await hook?.call(
			new HookContext(workflow, node, workflowExecuteAdditionalData, mode, activation, webhook),
		);
	}

	private async answer(request: WebRequest, response: WebResponse): Promise<void> {
		const processes = [this.stored, ...this.others];
		const stored = processes[this.requests++ % processes.length] ?? this.stored;
		const workflow = stored.load();
		const webhook = this.webhookData(workflow, request.method);
		const mode = this.mode === 'production' ? 'webhook' : 'manual';
		await callWebhook({
			workflow,
			webhook,
			mode,
			request,
			response,
			start: async (workflowData, error) => {
				if (error === undefined) await this.started(stored, mode, workflowData);
				else this.thrown.push(error);
				if (mode === 'manual') await this.deactivate();
			},
		});
	}

	private async started(
		stored: StoredWorkflow,
		mode: WorkflowExecuteMode,
		workflowData: INodeExecutionData[][],
	): Promise<void> {
		const node = nodeIn(stored.base.nodes);
		const data = createRunExecutionData({
			executionData: { nodeExecutionStack: [{ node, data: { main: workflowData }, source: null }] },
		});
		this.storesBegun += 1;
		await this.storing;
		if (this.failingStores-- > 0) throw new HttpError(500, 'The execution could not be stored');
		this.begun.push(deepCopy(data));
		const run = this.run(stored, mode, data);
		this.outcomes.push(run);
		// n8n does not wait for the run to end. The harness does if the trigger is the only node and claims no status.
		if (stored.base.nodes.length === 1 && workflowData[0]?.[0]?.json.item) await run;
	}

	private async run(
		stored: StoredWorkflow,
		mode: WorkflowExecuteMode,
		data: IRunExecutionData,
	): Promise<RunOutcome> {
		const executionId = nextExecutionId();
		const first = await runLeg({ stored, mode, executionId, data });
		const outcome =
			first.status === 'waiting' ? await this.wait(stored, mode, executionId, first) : first;
		const items = outcome.data[NAME]?.items ?? [];
		if (items.length > 0) this.emitted.push(items);
		return outcome;
	}

	private async wait(
		stored: StoredWorkflow,
		mode: WorkflowExecuteMode,
		executionId: string,
		parked: RunOutcome,
	): Promise<RunOutcome> {
		const run = new StoredRun(stored, mode, executionId, new AbortController().signal);
		this.waiting.push(run);
		run.adopt(parked);
		return await run.finished;
	}
}

function nodeIn(nodes: INode[]): INode {
	const node = nodes.find(({ name }) => name === NAME);
	if (node === undefined) throw new Error('The workflow has no trigger');
	return node;
}

function webhookOf(
	workflow: Workflow,
	additionalData: IWorkflowExecuteAdditionalData,
	method = 'POST',
): IWebhookData {
	const all = webhooksOf(workflow, nodeIn(Object.values(workflow.nodes)), additionalData);
	const webhook = all.find(({ httpMethod }) => httpMethod === method);
	if (!webhook) throw new HttpError(404, 'This webhook is not registered for such requests.');
	return webhook;
}

/** Publishes a workflow with the trigger, at a loopback address. */
export async function serveWebhook(options: TriggerOptions = {}): Promise<PublishedTrigger> {
	const trigger = await PublishedTrigger.prepare(options);
	// The platform may send a webhook before `create` has returned.
	trigger.listen();
	try {
		await trigger.activate(options.activation);
	} catch (error) {
		trigger.stopListening();
		throw error;
	}
	// n8n also registers the test address after `create`, even if a webhook during `create` has ended the test.
	if (options.mode === 'test') trigger.listen();
	return trigger;
}
