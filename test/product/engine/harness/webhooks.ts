import './container';
import { WebhookContext } from 'n8n-core';
import {
	isNodeClassInstance,
	NodeHelpers,
	type INode,
	type INodeExecutionData,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookDescription,
	type IWebhookResponseData,
	type IWorkflowExecuteAdditionalData,
	type Workflow,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { HttpError, parseBody, type WebRequest, type WebResponse } from './webServer';

/** A webhook that a node declares, and where it is reached. */
export function webhooksOf(
	workflow: Workflow,
	node: INode,
	additionalData: IWorkflowExecuteAdditionalData,
): IWebhookData[] {
	const { description } = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	return (description.webhooks ?? []).map((webhookDescription) => {
		const value = (name: string, fallback: string | boolean) =>
			evaluate(workflow, node, webhookDescription, name, fallback, 'internal');
		const path = String(value('path', '')).trim().replace(/^\//, '').replace(/\/$/, '');
		return {
			httpMethod: String(value('httpMethod', 'GET')) as IWebhookData['httpMethod'],
			node: node.name,
			path: NodeHelpers.getNodeWebhookPath(
				workflow.id,
				node,
				path,
				value('isFullPath', false) === true,
				value('restartWebhook', false) === true,
			),
			webhookDescription,
			workflowId: workflow.id,
			workflowExecuteAdditionalData: additionalData,
		};
	});
}

/** One request to a node's webhook. */
export interface WebhookCall {
	workflow: Workflow;
	webhook: IWebhookData;
	mode: WorkflowExecuteMode;
	/** The data of the parked run, where it is one. */
	runData?: IRunExecutionData;
	request: WebRequest;
	response: WebResponse;
	/** Stores what the webhook changed, at the moment at which n8n does. */
	save: () => void;
	/** Starts, or resumes, a run with what the node put out. */
	start: (workflowData: INodeExecutionData[][], error?: Error) => Promise<void>;
}

/** Has a node's webhook() answer a request, and answers for it where n8n would. */
export async function callWebhook(call: WebhookCall): Promise<void> {
	const { workflow, webhook, mode, request, response, runData } = call;
	const { workflowExecuteAdditionalData: additionalData, webhookDescription } = webhook;
	const node = workflow.getNode(webhook.node);
	if (node === null) throw new HttpError(404, 'Could not find node to process webhook.');
	const option = (name: string, fallback: string | number) =>
		evaluate(workflow, node, webhookDescription, name, fallback, mode);
	const responseMode = option('responseMode', 'onReceived');
	if (responseMode !== 'onReceived') throw new Error(`No ${String(responseMode)} in this harness`);

	await parseBody(request, node.typeVersion);
	request.params = {};
	additionalData.httpRequest = request;
	additionalData.httpResponse = response;
	const context = new WebhookContext(
		workflow,
		node,
		additionalData,
		mode,
		webhook,
		[],
		runData ?? null,
	);
	const nodeType = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	if (nodeType.webhook === undefined) throw new HttpError(500, 'Node has no webhook()');

	let result: IWebhookResponseData;
	try {
		result = isNodeClassInstance(nodeType)
			? await (nodeType.webhook as (context: WebhookContext) => Promise<IWebhookResponseData>)(
					context,
				)
			: await nodeType.webhook.call(context);
	} catch (error) {
		const message = 'Workflow Webhook Error: Workflow could not be started!';
		if (!response.headersSent) response.status(500).json({ code: 0, message });
		await call.start([[{ json: {} }]], error instanceof Error ? error : new Error(String(error)));
		return;
	}

	if (response.headersSent && result.noWebhookResponse !== true) {
		throw new Error('The node has answered without saying so, and n8n would answer once more');
	}
	const code = Number(option('responseCode', 200));
	const answer = (body: unknown) => void response.status(code).send(body);
	if (result.noWebhookResponse === true) call.save();
	if (result.workflowData === undefined) {
		if (result.noWebhookResponse === true) return;
		call.save();
		answer(result.webhookResponse ?? { message: 'Webhook call received' });
		return;
	}
	await call.start(result.workflowData);
	if (result.noWebhookResponse === true) return;
	// Seen in n8n 2.41.1: on this way what webhook() wrote into the static data is lost.
	const data = option('responseData', 'firstEntryJson');
	answer(data === 'noData' ? undefined : data);
}

function evaluate(
	workflow: Workflow,
	node: INode,
	description: IWebhookDescription,
	name: string,
	fallback: string | number | boolean,
	mode: WorkflowExecuteMode,
): unknown {
	const value = description[name as keyof IWebhookDescription];
	return workflow.expression.getSimpleParameterValue(
		node,
		value as string | boolean | undefined,
		mode,
		{},
		undefined,
		fallback,
	);
}
