import { z } from 'zod';
import { recipeOf } from '../../../examples/source';
import { render, type PlacedNode } from '../../../examples/source/workflow';
import { PACKAGE_NAME } from '../n8n/paths';
import { TOOL_TYPE } from './stage/chargeTool';
import { Guest } from './stage/sharedN8n';
import { type ModelServer, type ScriptedCall, serveModel } from './stage/models';

const START = 'When a customer writes';
const AGENT = 'Sales assistant';
const MODEL = 'Chat model';

const rowsSchema = z.array(z.record(z.unknown()));

let ready: Guest;
let model: ModelServer;

beforeAll(async () => {
	ready = await Guest.enter();
});

afterAll(async () => {
	await model?.close();
	await ready?.close();
});

const fromModel = (key: string, description: string): string =>
	`={{ $fromAI('${key}', '${description}', 'string') }}`;

/** The tools of the recipe, and one for each operation that it has no use for. */
function tools() {
	const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
	const credentials = {
		digitalSalesApi: { id: ready.credential.id, name: ready.credential.name },
	};
	const more = [
		{
			name: 'Make an offer',
			parameters: {
				resource: 'offer',
				operation: 'create',
				productHash: { __rl: true, mode: 'hash', value: fromModel('product_hash', 'The product') },
				title: fromModel('title', 'The title of the offer'),
				price: fromModel('price', 'The price in reais, for example 19,90'),
			},
		},
		{
			name: 'Wait for the payment',
			parameters: {
				resource: 'transaction',
				operation: 'waitForPayment',
				transactionHash: fromModel('transaction_hash', 'The transaction'),
			},
		},
		{
			name: 'Where notices go',
			parameters: { resource: 'notification', operation: 'getAddress' },
		},
	].map(
		(node): PlacedNode => ({
			...node,
			id: node.name,
			type: TOOL_TYPE,
			typeVersion: 1,
			position: [0, 0],
		}),
	);
	return [...nodes.filter(({ type }) => type === TOOL_TYPE), ...more].map(
		(node): PlacedNode & { credentials: object } => ({
			...node,
			parameters: { descriptionType: 'auto', ...node.parameters },
			credentials,
		}),
	);
}

async function runAgent(script: ScriptedCall[]): Promise<string | undefined> {
	model = await serveModel(script);
	const { rest } = ready;
	const openAi = await rest.createCredential('Scripted model', 'openAiApi', {
		apiKey: 'test-model-key',
		url: model.url,
	});
	const toolNodes = tools();
	const to = (type: string) => ({ [type]: [[{ node: AGENT, type, index: 0 }]] });
	const workflow = await rest.createWorkflow({
		name: 'An agent with every operation',
		nodes: [
			{
				id: 'start',
				name: START,
				type: 'n8n-nodes-base.manualTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: {},
			},
			{
				id: 'agent',
				name: AGENT,
				type: '@n8n/n8n-nodes-langchain.agent',
				typeVersion: 3,
				position: [0, 0],
				parameters: {
					promptType: 'define',
					text: 'Sell something',
					options: { maxIterations: 30, enableStreaming: false },
				},
			},
			{
				id: 'model',
				name: MODEL,
				type: '@n8n/n8n-nodes-langchain.lmChatOpenAi',
				typeVersion: 1.2,
				position: [0, 0],
				parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
				credentials: { openAiApi: { id: openAi.id, name: openAi.name } },
			},
			...toolNodes,
		],
		connections: {
			[START]: to('main'),
			[MODEL]: to('ai_languageModel'),
			...Object.fromEntries(toolNodes.map(({ name }) => [name, to('ai_tool')])),
		},
		pinData: { [START]: [{ json: { sessionId: 'a chat' } }] },
		settings: { executionOrder: 'v1' },
	});
	return (await rest.run(workflow.id, START)).error;
}

/** The first row that a tool answered; an agent may wrap it. */
function rowIn(answer: string | undefined): Record<string, unknown> {
	const parsed: unknown = JSON.parse(answer ?? '[]');
	const rows = rowsSchema.safeParse(parsed);
	if (rows.success) {
		const [first = {}] = rows.data;
		const { response } = first;
		return Array.isArray(response) ? (rowsSchema.parse(response)[0] ?? {}) : first;
	}
	const { response } = z.object({ response: rowsSchema }).parse(parsed);
	return response[0] ?? {};
}

/** Every operation of the tool, as n8n offers it. */
async function everyOperation(): Promise<string[]> {
	const types = await ready.rest.nodeTypes();
	const tool = types.find(({ name }) => name === `${PACKAGE_NAME}.digitalSalesTool`);
	return (tool?.properties ?? [])
		.filter(({ name }) => name === 'operation')
		.flatMap(({ displayOptions, options = [] }) =>
			options.map((option) =>
				[displayOptions?.show?.resource?.[0], 'value' in option && option.value].join(' '),
			),
		);
}

it('lets an agent use every operation with what n8n tells it of them', async () => {
	const order = (answers: string[]) => ({
		offer_hash: rowIn(answers[0]).offer_hash,
		quantity: 2,
		customer_name: 'Maria da Silva',
		customer_email: 'maria@example.test',
		customer_phone: '(11) 91234-5678',
		customer_document: '529.982.247-25',
	});
	const charged = (answers: string[]) => ({ transaction_hash: rowIn(answers[1]).hash });

	const error = await runAgent([
		{ tool: 'List_the_products', args: () => ({ search: '' }) },
		{ tool: 'Charge_by_PIX', args: order },
		{ tool: 'Charge_by_PIX', args: order },
		{ tool: 'Check_the_payment', args: charged },
		{
			tool: 'Make_an_offer',
			args: (answers) => ({
				product_hash: rowIn(answers[0]).product_hash,
				title: 'Oferta do agente',
				price: '19,90',
			}),
		},
		{ tool: 'Wait_for_the_payment', args: charged },
		{ tool: 'Where_notices_go', args: () => ({}) },
	]);

	expect(error).toBeUndefined();
	const offered = tools().map(({ parameters }) =>
		[parameters.resource ?? 'transaction', parameters.operation ?? 'create'].join(' '),
	);
	expect(offered.sort()).toEqual((await everyOperation()).sort());
	expect(
		Object.fromEntries(
			model.tools.map(({ name, parameters }) => [name, Object.keys(parameters.properties).sort()]),
		),
	).toEqual({
		List_the_products: ['search'],
		Charge_by_PIX: [
			'customer_document',
			'customer_email',
			'customer_name',
			'customer_phone',
			'offer_hash',
			'quantity',
		],
		Check_the_payment: ['transaction_hash'],
		Make_an_offer: ['price', 'product_hash', 'title'],
		Wait_for_the_payment: ['transaction_hash'],
		Where_notices_go: [],
	});
	const [listed, first, again, checked, offer, waited, address] = model.answers;
	const { price_reais: price } = rowIn(listed);
	expect(rowIn(first)).toMatchObject({ amount_reais: Number(price) * 2 });
	expect(rowIn(again).hash).toBe(rowIn(first).hash);
	expect(rowIn(checked)).toMatchObject({ payment_status: 'waiting_payment' });
	expect(rowIn(offer)).toMatchObject({ title: 'Oferta do agente', price_reais: 19.9 });
	expect(waited).toContain('cannot be used as a tool');
	expect(address).toContain('has no Digital Sales Trigger');
	expect(ready.sandbox.charges()).toBe(1);
});
