import { randomUUID } from 'node:crypto';
import chunk from 'lodash/chunk';
import range from 'lodash/range';
import type { INodeParameters, INodeTypeDescription } from 'n8n-workflow';
import { z } from 'zod';
import { until } from '../until';
import { Execution, type ExecutionSummary, storedSchema, summarySchema } from './execution';

const POLL_MS = 100;
const READS_AT_ONCE = 8;
const SERVED_WITHIN_MS = 60_000;
const PUBLISH_WITHIN_MS = 60_000;
/** The first wait that a young n8n resumes sleeps for up to a minute. */
const FINISH_WITHIN_MS = 210_000;
const ENDED = ['success', 'error', 'canceled', 'crashed'];

const failureSchema = z.object({ message: z.string() });
const savedCredentialSchema = z.object({ id: z.string(), name: z.string(), type: z.string() });
const namedSchema = z.object({ id: z.string(), name: z.string() });
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const savedNodeSchema = z.object({
	id: z.string(),
	name: z.string(),
	type: z.string(),
	typeVersion: z.number(),
	position: z.tuple([z.number(), z.number()]),
	parameters: z.custom<INodeParameters>(isObject),
	webhookId: z.string().optional(),
	credentials: z
		.record(z.object({ id: z.string().nullable().default(null), name: z.string() }))
		.optional(),
});
const nodeTypeSchema = z.custom<INodeTypeDescription>(
	(value) =>
		z.object({ name: z.string(), properties: z.array(z.unknown()) }).safeParse(value).success,
);
const savedWorkflowSchema = z.object({
	id: z.string(),
	name: z.string(),
	versionId: z.string(),
	nodes: z.array(savedNodeSchema),
});
const publicationSchema = z.object({
	status: z.string(),
	triggers: z.array(z.object({ nodeId: z.string(), errorMessage: z.string().nullable() })),
});
const listSchema = z.object({ results: z.array(summarySchema) });

export type SavedCredential = z.infer<typeof savedCredentialSchema>;
export type SavedWorkflow = z.infer<typeof savedWorkflowSchema>;

/** The owner of an n8n. */
export interface Login {
	email: string;
	password: string;
}

export const DEMO_LOGIN: Login = { email: 'owner@example.test', password: 'Sandbox-demo-1' };

/** The format of an exported workflow. */
export interface WorkflowFile {
	name: string;
	nodes: unknown[];
	connections: Record<string, unknown>;
	settings?: Record<string, unknown>;
}

/** The REST interface of n8n's editor. */
export class N8nRest {
	private cookie = '';

	// n8n binds a login to a browser. This id names ours.
	private readonly browserId = randomUUID();

	constructor(private readonly url: string) {}

	/** Creates the owner first if n8n has none. */
	async signIn(login: Login): Promise<void> {
		const owner = { ...login, firstName: 'Demo', lastName: 'Owner' };
		// n8n may report that it is ready a moment before it serves this interface.
		const made = await until(
			'n8n takes an owner',
			async () => {
				const answer = await this.send('POST', '/owner/setup', owner);
				return answer.status !== 404 && answer;
			},
			{ withinMs: SERVED_WITHIN_MS },
		);
		if (made.ok) return;
		await this.call(z.unknown(), 'POST', '/login', {
			emailOrLdapLoginId: login.email,
			password: login.password,
		});
	}

	async createCredential(
		name: string,
		type: string,
		data: Record<string, unknown>,
	): Promise<SavedCredential> {
		return await this.call(savedCredentialSchema, 'POST', '/credentials', { name, type, data });
	}

	/** Creates a credential, or replaces what is in the one of this name. */
	async putCredential(
		name: string,
		type: string,
		data: Record<string, unknown>,
	): Promise<SavedCredential> {
		const all = await this.call(z.array(savedCredentialSchema), 'GET', '/credentials');
		const kept = all.find((one) => one.name === name);
		if (!kept) return await this.createCredential(name, type, data);
		await this.call(z.unknown(), 'PATCH', `/credentials/${kept.id}`, { name, type, data });
		return kept;
	}

	/** As a draft. */
	async createWorkflow(workflow: WorkflowFile): Promise<SavedWorkflow> {
		return await this.call(savedWorkflowSchema, 'POST', '/workflows', workflow);
	}

	async workflowNamed(name: string): Promise<SavedWorkflow | undefined> {
		const all = await this.call(z.array(namedSchema), 'GET', '/workflows');
		const found = all.find((one) => one.name === name);
		return found && (await this.workflow(found.id));
	}

	async workflow(id: string): Promise<SavedWorkflow> {
		return await this.call(savedWorkflowSchema, 'GET', `/workflows/${id}`);
	}

	/** Every version of every node type. */
	async nodeTypes(): Promise<INodeTypeDescription[]> {
		// While n8n writes a new list, it serves a part of the list or the page of its editor.
		const list = await until(
			'the node types',
			async () => {
				const answer = await this.fetch('GET', '/types/nodes.json');
				const read: unknown = await answer.json().catch(() => undefined);
				return read === undefined ? undefined : { read };
			},
			{ withinMs: SERVED_WITHIN_MS },
		);
		return z.array(nodeTypeSchema).parse(list.read);
	}

	/** Waits until the triggers listen. */
	async publish({ id, name, versionId }: SavedWorkflow): Promise<void> {
		await this.call(z.unknown(), 'POST', `/workflows/${id}/activate`, { versionId });
		const path = `/workflows/${id}/publication-status`;
		const isPublished = async (): Promise<boolean> => {
			const response = await this.send('GET', path);
			// n8n 2.30 has no such path. Its answer comes once the workflow is published.
			if (response.status === 404) return true;
			const { status, triggers } = await this.read(publicationSchema, response, `GET ${path}`);
			if (status === 'published') return true;
			const faults = triggers.flatMap(({ errorMessage }) => errorMessage ?? []);
			// `not_published` also means that publishing has not begun.
			const isUnderWay = ['in_progress', 'not_published'].includes(status);
			if (isUnderWay && faults.length === 0) return false;
			throw new Error(`"${name}" is not published: ${faults.join('; ')}`);
		};
		await until(`"${name}" is published`, isPublished, { withinMs: PUBLISH_WITHIN_MS });
	}

	async unpublish({ id }: SavedWorkflow): Promise<void> {
		await this.call(z.unknown(), 'POST', `/workflows/${id}/deactivate`, {});
	}

	/** Returns the id of the execution. */
	async start(workflowId: string, trigger: string): Promise<string> {
		const schema = z.object({ executionId: z.string() });
		return (await this.runFrom(schema, workflowId, trigger)).executionId;
	}

	async run(workflowId: string, trigger: string): Promise<Execution> {
		return await this.ended(await this.start(workflowId, trigger));
	}

	/** Like Execute step of a webhook trigger. */
	async listen(workflowId: string, trigger: string): Promise<void> {
		const schema = z.object({ waitingForWebhook: z.literal(true) });
		await this.runFrom(schema, workflowId, trigger);
	}

	private async runFrom<S extends z.ZodTypeAny>(schema: S, workflowId: string, name: string) {
		const body = { triggerToStartFrom: { name } };
		return await this.call(schema, 'POST', `/workflows/${workflowId}/run`, body);
	}

	/** Newest first, at most 100. */
	async executions(workflowId: string, startedAfter?: Date): Promise<ExecutionSummary[]> {
		const results = await this.list({ workflowId, startedAfter });
		// n8n lists running executions first. The ids of Engine 2.0 are not numbers and keep their order.
		return results.sort((a, b) => Number(b.id) - Number(a.id) || 0);
	}

	/** The executions of all workflows with one of these statuses, at most 100. */
	async withStatus(...status: string[]): Promise<ExecutionSummary[]> {
		return await this.list({ status });
	}

	private async list(filter: object): Promise<ExecutionSummary[]> {
		const path = `/executions?filter=${encodeURIComponent(JSON.stringify(filter))}&limit=100`;
		return (await this.call(listSchema, 'GET', path)).results;
	}

	/** Returns the id of the execution that the action starts. */
	async startedBy(workflowId: string, action: () => Promise<unknown>): Promise<string> {
		const before = (await this.executions(workflowId)).length;
		await action();
		return await until('the execution starts', async () => {
			const all = await this.executions(workflowId);
			return all.length > before && all[0]?.id;
		});
	}

	/** Waits until no execution of any workflow runs or is about to run. */
	async settled(): Promise<void> {
		const isOver = async () => (await this.withStatus('new', 'running')).length === 0;
		await until('nothing runs any more', isOver, { withinMs: FINISH_WITHIN_MS, everyMs: POLL_MS });
	}

	/** Oldest first. */
	async everyExecution(): Promise<Execution[]> {
		const newest = Math.max(0, ...(await this.list({})).map(({ id }) => Number(id)));
		const found: Execution[] = [];
		// Reads executions by id, because n8n sorts its list by start but pages it by id, so some are on no page.
		for (const ids of chunk(range(1, newest + 1), READS_AT_ONCE)) {
			const read = await Promise.all(ids.map(async (id) => await this.executionIfStored(id)));
			found.push(...read.filter((execution) => execution !== undefined));
		}
		return found;
	}

	private async executionIfStored(id: number): Promise<Execution | undefined> {
		const response = await this.send('GET', `/executions/${id}`);
		if (response.status === 404) return undefined;
		// For an id without a stored execution, n8n answers without data.
		const stored = await this.read(storedSchema.optional(), response, `execution ${id}`);
		return stored && Execution.read(stored);
	}

	/**
	 * @param loadWorkflow means "with currently saved workflow"
	 * @returns the id of the new execution
	 */
	async retry(executionId: string, loadWorkflow: boolean): Promise<string> {
		const path = `/executions/${executionId}/retry`;
		return (await this.call(z.object({ id: z.string() }), 'POST', path, { loadWorkflow })).id;
	}

	/** For example `waiting`. Works even before the first node has run. */
	async status(id: string): Promise<string> {
		return (await this.stored(id)).status;
	}

	/** The execution must have begun. */
	async execution(id: string): Promise<Execution> {
		return Execution.read(await this.stored(id));
	}

	async ended(id: string): Promise<Execution> {
		let before: string | undefined;
		const options = { withinMs: FINISH_WITHIN_MS, everyMs: POLL_MS };
		return await until(
			`execution ${id} ends`,
			async () => {
				const stored = await this.stored(id);
				// n8n may store the status a moment before the data.
				const isStored = ENDED.includes(stored.status) && stored.data === before;
				before = ENDED.includes(stored.status) ? stored.data : undefined;
				return isStored && Execution.read(stored);
			},
			options,
		);
	}

	private async stored(id: string): Promise<z.infer<typeof storedSchema>> {
		return await this.call(storedSchema, 'GET', `/executions/${id}`);
	}

	/** For an answer that does not end, or is not JSON. */
	async send(method: string, path: string, body?: object): Promise<Response> {
		return await this.fetch(method, `/rest${path}`, body);
	}

	private async fetch(method: string, path: string, body?: object): Promise<Response> {
		const response = await fetch(`${this.url}${path}`, {
			method,
			headers: {
				'content-type': 'application/json',
				// A busy n8n may close a kept connection just as it is used again.
				connection: 'close',
				'browser-id': this.browserId,
				...(this.cookie === '' ? {} : { cookie: this.cookie }),
			},
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(60_000),
		});
		const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
		if (cookies.length > 0) this.cookie = cookies.join('; ');
		return response;
	}

	/** For requests that only one test needs. */
	async call<S extends z.ZodTypeAny>(
		schema: S,
		method: string,
		path: string,
		body?: object,
	): Promise<z.output<S>> {
		return await this.read(schema, await this.send(method, path, body), `${method} ${path}`);
	}

	private async read<S extends z.ZodTypeAny>(
		schema: S,
		response: Response,
		asked: string,
	): Promise<z.output<S>> {
		const answer: unknown = await response.json().catch(() => undefined);
		if (!response.ok) {
			const failure = failureSchema.safeParse(answer);
			const reason = failure.success ? failure.data.message : 'no reason given';
			throw new Error(`n8n refused ${asked} (${response.status}): ${reason}`);
		}
		const read = z.object({ data: schema }).safeParse(answer);
		if (!read.success) {
			throw new Error(`n8n answered ${asked} in another shape: ${read.error.message}`);
		}
		return (read.data as { data: z.output<S> }).data;
	}
}
