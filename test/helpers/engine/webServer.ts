import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse as parseForm } from 'node:querystring';
import { buffer } from 'node:stream/consumers';
import partition from 'lodash/partition';
import { parseIncomingMessage } from '@n8n/backend-network';
import { WebhookContext } from 'n8n-core';
import {
	type INode,
	type INodeExecutionData,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookResponseData,
	type IWorkflowExecuteAdditionalData,
	jsonParse,
	NodeHelpers,
	type Workflow,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

const MAX_BODY = 16 * 1024 * 1024;

/** n8n answers with this status and message. */
export class HttpError extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

/** The part of Express' request that the nodes use. */
export class WebRequest extends IncomingMessage {
	body: unknown;

	rawBody!: Buffer;

	contentType?: string;

	encoding: BufferEncoding = 'utf-8';

	path = '';

	async readRawBody(): Promise<void> {
		this.rawBody ??= await buffer(this);
		if (this.rawBody.length > MAX_BODY) throw new HttpError(413, 'request entity too large');
	}
}

/** The part of Express' response that the nodes use. */
export class WebResponse extends ServerResponse<WebRequest> {
	status(code: number): this {
		this.statusCode = code;
		return this;
	}

	json(body: unknown): this {
		this.setHeader('content-type', 'application/json; charset=utf-8');
		return this.end(JSON.stringify(body));
	}
}

export type RequestHandler = (request: WebRequest, response: WebResponse) => Promise<void>;

/** A loopback server that reads requests as n8n does. */
class WebServer {
	private readonly handlers = new Map<string, RequestHandler>();

	private readonly server = createServer(
		// With a keep-alive timeout, Node.js closes a connection whose body still comes in after the answer.
		{ IncomingMessage: WebRequest, ServerResponse: WebResponse, keepAliveTimeout: 0 },
		(request, response) => void this.answer(request, response as WebResponse),
	);

	async open(): Promise<void> {
		await once(this.server.listen(0, '127.0.0.1'), 'listening');
	}

	/** Drops all connections. */
	close(): void {
		this.server.close();
		this.server.closeAllConnections();
	}

	/** The public address in n8n's settings, for a test that needs an address that looks public. No request is sent to it. */
	publicUrl?: string;

	url(): string {
		return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
	}

	/** Handles requests to the path and to paths below it. */
	handle(path: string, handler: RequestHandler): void {
		this.handlers.set(path, handler);
	}

	forget(path: string): void {
		this.handlers.delete(path);
	}

	/** A test may replace this method with `jest.spyOn`. */
	async answer(request: WebRequest, response: WebResponse): Promise<void> {
		try {
			request.path = new URL(request.url ?? '/', 'http://loopback').pathname;
			if (request.method === 'OPTIONS') return this.answerOptions(request, response);
			const handler = this.find(request.path);
			if (handler === undefined) {
				throw new HttpError(404, 'The requested webhook is not registered.');
			}
			parseIncomingMessage(request);
			await handler(request, response);
		} catch (error) {
			if (response.headersSent) return;
			const status = error instanceof HttpError ? error.status : 500;
			const message = error instanceof Error ? error.message : String(error);
			response.status(status).json({ code: status === 500 ? 0 : status, message });
		}
	}

	/** Lists the methods of the path, for browsers. */
	private answerOptions({ path, headers }: WebRequest, response: WebResponse): void {
		const methods = this.handlers.has(path) ? 'OPTIONS, GET, HEAD, POST' : 'OPTIONS';
		if (headers.origin !== undefined) response.setHeader('access-control-allow-methods', methods);
		response.status(204).end();
	}

	private find(path: string): RequestHandler | undefined {
		for (const [prefix, handler] of this.handlers) {
			if (path === prefix || path.startsWith(`${prefix}/`)) return handler;
		}
		return undefined;
	}
}

/** All runs and triggers of a test file share this server. */
export const webServer = new WebServer();

beforeAll(async () => await webServer.open());
afterAll(() => webServer.close());

const PARSED = /^(application\/json|text\/plain|application\/x-www-form-urlencoded)/;

/**
 * Sets `body` as n8n does, except for XML, which only n8n parses. Above type version 1, n8n does not read a body with
 * an unparsed content type. A multipart body has no `rawBody`, and no size limit.
 */
async function parseBody(request: WebRequest, typeVersion: number): Promise<void> {
	const { contentType = '', encoding } = request;
	if (contentType.startsWith('multipart/')) {
		const headers = { 'content-type': request.headers['content-type'] ?? '' };
		const form = await new Response(await buffer(request), { headers }).formData();
		const isText = ([, value]: [string, unknown]): boolean => typeof value === 'string';
		const [data, files] = partition([...form], isText).map(Object.fromEntries);
		request.body = { data, files };
		return;
	}
	if (typeVersion > 1 && !PARSED.test(contentType)) return;
	await request.readRawBody();
	const { rawBody } = request;
	if (rawBody.length === 0) return;
	try {
		const text = rawBody.toString(encoding).replace(/^\uFEFF/, '');
		if (contentType === 'application/json') request.body = jsonParse(text);
		else if (contentType === 'application/x-www-form-urlencoded') request.body = parseForm(text);
		else if (contentType === 'text/plain') request.body = rawBody.toString(encoding);
	} catch {
		throw new HttpError(422, 'Failed to parse request body');
	}
}

/** The webhooks that a node declares, with their paths. */
export function webhooksOf(
	workflow: Workflow,
	node: INode,
	additionalData: IWorkflowExecuteAdditionalData,
): IWebhookData[] {
	const { description } = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	return (description.webhooks ?? []).map((webhookDescription) => {
		const { httpMethod, path, isFullPath, restartWebhook } = webhookDescription;
		return {
			httpMethod: httpMethod as IWebhookData['httpMethod'],
			node: node.name,
			path: NodeHelpers.getNodeWebhookPath(
				workflow.id,
				node,
				path,
				isFullPath === true,
				restartWebhook,
			),
			webhookDescription,
			workflowId: workflow.id,
			workflowExecuteAdditionalData: additionalData,
		};
	});
}

export interface WebhookCall {
	workflow: Workflow;
	webhook: IWebhookData;
	mode: WorkflowExecuteMode;
	/** The data of a parked run. */
	runData?: IRunExecutionData;
	request: WebRequest;
	response: WebResponse;
	/** Starts or resumes a run with the node's output, or with its error. */
	start: (workflowData: INodeExecutionData[][], error?: Error) => Promise<void>;
}

/** Calls a node's `webhook` method, and answers unless the node does. */
export async function callWebhook(call: WebhookCall): Promise<void> {
	const { workflow, webhook, mode, request, response, runData = null } = call;
	const { workflowExecuteAdditionalData: additionalData, webhookDescription } = webhook;
	const { responseMode, responseData } = webhookDescription;
	if (responseMode !== 'onReceived' || responseData !== 'noData') {
		throw new Error('The harness supports only responseMode onReceived with noData');
	}
	const node = workflow.getNode(webhook.node) as INode;
	const nodeType = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	await parseBody(request, node.typeVersion);
	additionalData.httpRequest = request;
	additionalData.httpResponse = response;
	const context = new WebhookContext(workflow, node, additionalData, mode, webhook, [], runData);
	let result: IWebhookResponseData | undefined;
	try {
		result = await nodeType.webhook?.call(context);
	} catch (error) {
		const message = 'Workflow Webhook Error: Workflow could not be started!';
		if (!response.headersSent) response.status(500).json({ code: 0, message });
		await call.start([[{ json: {} }]], error instanceof Error ? error : new Error(String(error)));
		return;
	}

	const { noWebhookResponse = false, workflowData } = result ?? {};
	const isAnswered = response.headersSent;
	const startsRun = workflowData !== undefined;
	if (noWebhookResponse !== isAnswered || (!startsRun && !isAnswered)) {
		throw new Error('The node must answer or start a run');
	}
	if (!startsRun) return;
	await call.start(workflowData);
	if (!isAnswered) response.status(200).end();
}
