import { randomUUID } from 'node:crypto';
import { CREDENTIAL_TYPE, PACKAGE_NAME } from '../n8n/paths';
import type { N8nRest, SavedCredential, WorkflowFile } from '../n8n/rest';

const CHAT = 'When somebody writes';
const AGENT = 'Sales assistant';
const MODEL = 'Chat model';

/** The node as a tool, and how the model calls it. */
export const TOOL = { name: 'Check the payment', called: 'Check_the_payment' };

/** A chat whose agent looks transactions up, with a model at `modelUrl`. */
export async function agentWorkflow(
	rest: N8nRest,
	modelUrl: string,
	credential: SavedCredential,
): Promise<WorkflowFile> {
	const model = await rest.createCredential('Stand-in model', 'openAiApi', {
		apiKey: 'test-model-key',
		url: modelUrl,
	});
	const to = (type: string) => ({ [type]: [[{ node: AGENT, type, index: 0 }]] });
	const nodes = [
		{
			name: CHAT,
			type: '@n8n/n8n-nodes-langchain.chatTrigger',
			typeVersion: 1.3,
			position: [0, 0],
			parameters: { options: {} },
		},
		{
			name: AGENT,
			type: '@n8n/n8n-nodes-langchain.agent',
			typeVersion: 3,
			position: [260, 0],
			parameters: { options: { enableStreaming: false } },
		},
		{
			name: MODEL,
			type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
			typeVersion: 1.2,
			position: [160, 220],
			parameters: { model: { __rl: true, mode: 'id', value: 'stand-in' }, options: {} },
			credentials: { openAiApi: { id: model.id, name: model.name } },
		},
		{
			name: TOOL.name,
			type: `${PACKAGE_NAME}.digitalSalesTool`,
			typeVersion: 1,
			position: [420, 220],
			parameters: {
				descriptionType: 'auto',
				resource: 'transaction',
				operation: 'get',
				transactionHash:
					"={{ $fromAI('transaction_hash', 'The hash of the transaction', 'string') }}",
			},
			credentials: { [CREDENTIAL_TYPE]: { id: credential.id, name: credential.name } },
		},
	];
	return {
		name: 'Sales assistant',
		nodes: nodes.map((node) => ({ id: randomUUID(), ...node })),
		connections: {
			[CHAT]: to('main'),
			[MODEL]: to('ai_languageModel'),
			[TOOL.name]: to('ai_tool'),
		},
		settings: { executionOrder: 'v1' },
	};
}
