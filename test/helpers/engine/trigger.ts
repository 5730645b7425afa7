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
import {
	callWebhook,
	HttpError,
	webhooksOf,
	type WebRequest,
	type WebResponse,
	webServer,
} from './webServer';

const NAME = 'Digital Sales Trigger';

/** How a trigger is published. */
export interface TriggerOptions extends Surroundings {
	parameters?: INodeParameters;
	/** Why n8n registers the trigger: because a person publishes it, by default. */
	activation?: WorkflowActivateMode;
	/** `test` is the editor's "Execute step": one event, nothing stored. */
	mode?: 'production' | 'test';
	/** Nodes behind the trigger, which then really run for each event. */
	next?: NodeInput[];
	/** What else the node is to be like, such as its ids, to publish one and the same node again. */
	settings?: Partial<NodeInput>;
	/** The engine chosen in the settings of the workflow. */
	engineType?: IWorkflowSettings['engineType'];
}

/** A workflow that starts with a trigger, as n8n has it published. */
export class PublishedTrigger {
	/** What each execution put out that gave items: the first output of the trigger. */
	readonly executions: INodeExecutionData[][] = [];

	/** What webhook() threw; n8n answers such a request with 500 and starts a failed run. */
	readonly thrown: Error[] = [];

	/** The outcomes of the executions, those of duplicates too. */
	readonly runs: Array<Promise<RunOutcome>> = [];

	/** What n8n stored of each execution when it began. */
	readonly begun: IRunExecutionData[] = [];

	/** n8n cannot store the next executions, and answers 500. */
	failingStores = 0;

	/** Holds back the storing of executions until it resolves. */
	storing: Promise<void> | undefined;

	/** How many executions are held back, or were. */
	held = 0;

	readonly logs = logged;

	/** The workflow in the processes beside the first. */
	private readonly others: StoredWorkflow[] = [];

	private requests = 0;

	private readonly handling = new Set<Promise<void>>();

	private path?: string;

	private constructor(
		private stored: StoredWorkflow,
		private readonly mode: 'production' | 'test',
		/** Where the service is to send its notices. */
		readonly url: string,
	) {}

	/** A trigger that is not published yet. */
	static async prepare(options: TriggerOptions): Promise<PublishedTrigger> {
		const { mode = 'production', parameters = {}, settings, engineType, next = [] } = options;
		const trigger = { ...settings, name: NAME, type: TRIGGER_TYPE, parameters };
		const workflow = {
			nodes: [trigger, ...next],
			active: mode === 'production',
			settings: { executionOrder: 'v1' as const, engineType },
		};
		const stored = new StoredWorkflow(workflow, options);
		const additionalData = createAdditionalData(stored.credentials);
		const { path } = webhookOf(stored.load(), additionalData);
		const { webhookBaseUrl, webhookTestBaseUrl } = additionalData;
		const base = mode === 'test' ? webhookTestBaseUrl : webhookBaseUrl;
		return new PublishedTrigger(stored, mode, `${base}/${path}`);
	}

	/**
	 * Asks the trigger whether it is registered and has it register if not, as n8n does at
	 * publication and at every start. Rejects where one of the two throws.
	 */
	async activate(activation: WorkflowActivateMode = 'activate'): Promise<void> {
		const isTest = this.mode === 'test';
		const [mode, reason] = isTest
			? (['manual', 'manual'] as const)
			: (['trigger', activation] as const);
		const exists = await this.callHook('checkExists', mode, reason);
		if (exists !== true) await this.callHook('create', mode, reason);
	}

	/** Has the trigger unregister and stops listening, as when the workflow is unpublished. */
	async deactivate(): Promise<void> {
		this.stopListening();
		await this.callHook('delete', 'internal', 'update');
	}

	/** Answers requests to the trigger's address from now on. */
	listen(): void {
		this.path = new URL(this.url).pathname;
		webServer.handle(this.path, async (request, response) => {
			const handled = this.answer(request, response);
			this.handling.add(handled);
			await handled.finally(() => this.handling.delete(handled));
		});
	}

	/** Answers no requests any more; a stopping server does this without telling the trigger. */
	stopListening(): void {
		if (this.path !== undefined) webServer.forget(this.path);
		this.path = undefined;
	}

	/** Posts a notice as JSON. */
	async post(body: unknown): Promise<HttpAnswer> {
		return await postJson(this.url, body);
	}

	/** Sends a request exactly as given: without a content type, with a broken body, ... */
	async send(call: HttpCall): Promise<HttpAnswer> {
		return await sendRequest(this.url, call);
	}

	/**
	 * Restarts n8n: the modules' state is gone, and the trigger is
	 * activated again.
	 */
	async restart(): Promise<void> {
		this.stored = this.stored.in(NodeProcess.fresh());
		this.others.length = 0;
		await this.activate('init');
	}

	/** Adds a process that shares only what is stored; requests go to all of them in turn. */
	addProcess(): void {
		this.others.push(this.stored.in(NodeProcess.fresh()));
	}

	/** n8n's Retry of an execution that crashed after it began. */
	async retry(begun: IRunExecutionData): Promise<RunOutcome> {
		return await this.run(this.stored, 'retry', retryData(begun, this.stored.base.nodes));
	}

	/** Waits until webhook() has returned for every request, and the runs it started are over. */
	async settled(): Promise<RunOutcome[]> {
		await Promise.allSettled(this.handling);
		return await Promise.all(this.runs);
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
		this.held += 1;
		await this.storing;
		if (this.failingStores-- > 0) throw new HttpError(500, 'The execution could not be stored');
		this.begun.push(deepCopy(data));
		const run = this.run(stored, mode, data);
		this.runs.push(run);
		// n8n answers while it runs; a test that looks at once finds what a trigger alone put out.
		if (stored.base.nodes.length === 1) await run;
	}

	private async run(
		stored: StoredWorkflow,
		mode: WorkflowExecuteMode,
		data: IRunExecutionData,
	): Promise<RunOutcome> {
		const executionId = nextExecutionId();
		const outcome = await runLeg({ stored, mode, executionId, data });
		const items = outcome.data[NAME]?.items ?? [];
		if (items.length > 0) this.executions.push(items);
		return outcome;
	}
}

function nodeIn(nodes: INode[]): INode {
	const node = nodes.find(({ name }) => name === NAME);
	if (node === undefined) throw new Error('The trigger is gone');
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

/** Publishes a workflow with the trigger and answers its webhook over loopback. */
export async function serveWebhook(options: TriggerOptions = {}): Promise<PublishedTrigger> {
	const trigger = await PublishedTrigger.prepare(options);
	// The service may send its first notice before create() has returned.
	trigger.listen();
	try {
		await trigger.activate(options.activation);
	} catch (error) {
		trigger.stopListening();
		throw error;
	}
	// What came before this has not ended the editor's test: n8n then registers it once more.
	if (options.mode === 'test') trigger.listen();
	return trigger;
}
