import { WAITING_TOKEN_QUERY_PARAM } from 'n8n-core';
import { sleep, type IRunExecutionData, type WorkflowExecuteMode } from 'n8n-workflow';
import { createAdditionalData, runLeg, type RunOutcome, type StoredWorkflow } from './engine';
import { sendRequest, type HttpAnswer, type HttpCall } from '../http';
import {
	callWebhook,
	HttpError,
	webhooksOf,
	type WebRequest,
	type WebResponse,
	webServer,
} from './webServer';

/** n8n polls every `POLL_MS` for runs that are due within `DUE_WITHIN_MS`. */
const POLL_MS = 60_000;
const DUE_WITHIN_MS = 70_000;

export interface Resumption {
	answer: HttpAnswer;
	/** The outcome of the leg that the webhook started. Missing if the run stayed parked. */
	outcome?: RunOutcome;
}

/** A run as n8n's database stores it, from its start to its end, with all parkings. */
export class StoredRun {
	/** Resolves when the run has ended. */
	readonly finished: Promise<RunOutcome>;

	/** The number of times that n8n started or resumed the run. */
	legs = 0;

	private status: 'running' | 'waiting' | 'finished' = 'running';

	/** JSON, so that each resumption gets a copy. */
	private parked = '';

	private leg?: Promise<RunOutcome>;

	private readonly handling = new Set<Promise<void>>();

	private token = '';

	private failingResumptions = 0;

	private till = 0;

	/** Whether n8n's timer is set for the run. A webhook does not clear the timer. */
	private isTimed = false;

	private finish!: (outcome: RunOutcome) => void;

	constructor(
		private workflow: StoredWorkflow,
		private readonly mode: WorkflowExecuteMode,
		private readonly executionId: string,
		private readonly signal: AbortSignal,
	) {
		this.finished = new Promise((resolve) => (this.finish = resolve));
	}

	/** Runs the workflow until it ends or is parked. */
	async start(data: IRunExecutionData): Promise<RunOutcome> {
		this.token = data.resumeToken ?? '';
		webServer.handle(this.path, async (request, response) => {
			const handled = this.answer(request, response);
			this.handling.add(handled);
			await handled.finally(() => this.handling.delete(handled));
		});
		return await this.run(data);
	}

	/** Takes over a run whose first leg has parked it. No webhook reaches it. */
	adopt(outcome: RunOutcome): void {
		this.legs = 1;
		this.settle(outcome);
	}

	/** The next leg runs in this process, as after a restart. */
	moveTo(workflow: StoredWorkflow): void {
		this.workflow = workflow;
	}

	/** As when n8n starts, and its recovery reads the run just before n8n resumes it. */
	async resumeTwice(): Promise<RunOutcome[]> {
		const data = this.stored;
		return await Promise.all([this.run(this.stored), this.run(data)]);
	}

	/** Makes the next resumptions fail, as when n8n's database is down. */
	failResumptions(times: number): void {
		this.failingResumptions = times;
	}

	/** The address that resumes the run, with its secret. */
	async resumeUrl(): Promise<string> {
		const base = webServer.publicUrl ?? webServer.url();
		const url = new URL(`${base}${this.path}/digital-sales`);
		url.searchParams.set(WAITING_TOKEN_QUERY_PARAM, this.token);
		return url.href;
	}

	/** Posts a webhook to the run, and waits for the leg that it may start. */
	async resumeByWebhook(body: unknown): Promise<Resumption> {
		const headers = { 'content-type': 'application/json' };
		return await this.send({ headers, body: JSON.stringify(body) });
	}

	/** Like `resumeByWebhook`, for any request. */
	async send(call: HttpCall): Promise<Resumption> {
		const before = this.legs;
		const { pathname, search } = new URL(await this.resumeUrl());
		const answer = await sendRequest(`${webServer.url()}${pathname}${search}`, call);
		// A node may answer before it starts the leg.
		await Promise.allSettled(this.handling);
		if (this.legs === before || this.leg === undefined) return { answer };
		return { answer, outcome: await this.leg };
	}

	/** When n8n's timer resumes the run, as Unix time in milliseconds. */
	get waitTill(): number {
		return this.till;
	}

	get stored(): IRunExecutionData {
		return JSON.parse(this.parked) as IRunExecutionData;
	}

	private get path(): string {
		return `/webhook-waiting/${this.executionId}`;
	}

	private async run(data: IRunExecutionData): Promise<RunOutcome> {
		this.status = 'running';
		const { workflow: stored, mode, executionId, signal } = this;
		this.legs += 1;
		this.leg = runLeg({ stored, mode, executionId, data, signal });
		const outcome = await this.leg;
		this.settle(outcome);
		return outcome;
	}

	private settle(outcome: RunOutcome): void {
		if (outcome.status === 'waiting') {
			this.parked = JSON.stringify(outcome.run.data);
			this.till = outcome.waitTill?.getTime() ?? Infinity;
			this.status = 'waiting';
			if (this.legs === 1) void this.track();
		} else {
			this.status = 'finished';
			this.finish(outcome);
		}
	}

	private async track(): Promise<void> {
		while (this.status !== 'finished') {
			await sleep(POLL_MS);
			const isDue = this.status === 'waiting' && this.till <= Date.now() + DUE_WITHIN_MS;
			if (isDue && !this.isTimed) void this.resumeWhenDue();
		}
	}

	private async resumeWhenDue(): Promise<void> {
		this.isTimed = true;
		await sleep(Math.max(0, this.till - Date.now()));
		this.isTimed = false;
		// As in n8n, the old timer also resumes a run that a webhook has resumed and that waits again.
		if (this.status === 'waiting') await this.run(this.stored);
	}

	private async answer(request: WebRequest, response: WebResponse): Promise<void> {
		const { searchParams } = new URL(request.url ?? '', 'http://loopback');
		if (searchParams.get(WAITING_TOKEN_QUERY_PARAM) !== this.token) {
			response.status(401).json({ error: 'Invalid token' });
			return;
		}
		if (this.status === 'running') {
			throw new HttpError(this.mode === 'manual' ? 500 : 409, 'The execution is running already.');
		}
		if (this.status === 'finished') {
			throw new HttpError(409, 'The execution has finished already.');
		}
		await this.callNode(request, response);
	}

	private async callNode(request: WebRequest, response: WebResponse): Promise<void> {
		const data = JSON.parse(this.parked) as IRunExecutionData;
		const entry = data.executionData?.nodeExecutionStack[0];
		const last = data.resultData.lastNodeExecuted ?? '';
		const workflow = this.workflow.load();
		const node = workflow.getNode(last);
		if (entry === undefined || node === null) {
			throw new HttpError(404, 'Could not find node to process webhook.');
		}
		// As in n8n, so that the entry passes on its input instead of running the node again.
		entry.node.disabled = true;
		data.waitTill = undefined;
		data.resultData.runData[last]?.pop();
		const ids = { executionId: this.executionId };
		const additionalData = createAdditionalData(this.workflow.credentials, ids);
		const webhook = webhooksOf(workflow, node, additionalData).find(
			({ httpMethod, path, webhookDescription }) =>
				httpMethod === request.method &&
				request.path === `${this.path}/${path}` &&
				webhookDescription.restartWebhook === true,
		);
		if (webhook === undefined) {
			throw new HttpError(404, 'The workflow has no waiting webhook with a matching path/method.');
		}
		await callWebhook({
			workflow,
			webhook,
			mode: this.mode,
			runData: data,
			request,
			response,
			start: async (workflowData, error) => {
				if (this.failingResumptions > 0 || this.status !== 'waiting') {
					this.failingResumptions -= 1;
					throw new HttpError(500, 'There was a problem executing the workflow');
				}
				entry.data.main = workflowData;
				entry.metadata = { ...entry.metadata, forwardAllOutputs: true };
				if (error !== undefined) {
					const { message, stack } = error;
					data.resultData = {
						runData: {},
						lastNodeExecuted: last,
						error: { ...error, message, stack } as never,
					};
				}
				void this.run(data);
			},
		});
	}
}
