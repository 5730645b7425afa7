import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { recipeOf } from '../../../examples/source';
import { render } from '../../../examples/source/workflow';
import { cpf } from '../../support/charge';
import { ACTION } from './stage/workflows';
import { Agent, type ModelServer, serveModel } from './stage/models';
import { enterSharedN8n, type Guest } from './stage/sharedN8n';

/** The name by which a model calls the tool. */
const CHARGE = 'Charge_by_PIX';
const CHARGE_NODE = 'Charge by PIX';
const TOOL = { type: `${ACTION}Tool`, typeVersion: 1 };
const SERVER = 'MCP Server Trigger';

/** What the tool says if no answer to a charge came, and if it then refuses the next. */
const IN_DOUBT = /may already have been charged: /;
const REFUSED = /may already have been charged(?!:)/;

/** What a model that charges fills in. */
type Order = Record<string, unknown>;
/** Charges in one chat or session, one after the other; gives the hash of each, or the error. */
type Charge = (...orders: Order[]) => Promise<string[]>;

let stage: Guest;
let model: ModelServer;
let customers = 100_200_300;
const clients: Client[] = [];

beforeAll(async () => {
	stage = await enterSharedN8n({ requestsPerMinute: null });
	model = await serveModel();
});
beforeEach(() => stage.sandbox.reset());
afterAll(async () => {
	for (const client of clients) await client.close();
	await stage?.close();
	await model?.close();
});

/** The charging tool of a recipe; without its Order Reference, which is made of the chat it begins with. */
function chargeParameters(): Record<string, unknown> {
	const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
	const charge = nodes.find(({ name }) => name === CHARGE_NODE);
	return { ...charge?.parameters, orderReference: '' };
}

function credentials(): Record<string, { id: string; name: string }> {
	const { id, name } = stage.credential;
	return { digitalSalesApi: { id, name } };
}

/** One of n8n's own Agents with our node as its only tool; gives what opens a chat. */
async function openAgent(): Promise<() => Promise<Charge>> {
	const key = { apiKey: 'test-model-key', url: model.url };
	const thinks = await stage.rest.createCredential('Obedient model', 'deepSeekApi', key);
	const agent = await Agent.create(stage.rest, `Seller ${randomUUID()}`, thinks, {
		name: CHARGE_NODE,
		description: 'Charges a customer by PIX.',
		nodeType: TOOL.type,
		nodeTypeVersion: TOOL.typeVersion,
		nodeParameters: chargeParameters(),
		credentials: credentials(),
	});
	const schema = z.object({ data: z.array(z.object({ json: z.unknown() })) });
	return async () => {
		const chat = randomUUID();
		return async (...orders) => {
			const calls = orders.map((args) => ({ tool: CHARGE, args }));
			const outputs = await agent.ask(chat, calls);
			return outputs.map((output) =>
				given(schema.safeParse(output).data?.data.map(({ json }) => json) ?? output),
			);
		};
	};
}

/** A workflow that is an MCP server with our node as its tool; gives what opens a session. */
async function openServer(): Promise<() => Promise<Charge>> {
	const place = { position: [0, 0] };
	const server = {
		...{ ...place, id: 'server', name: SERVER, webhookId: randomUUID() },
		...{
			type: '@n8n/n8n-nodes-langchain.mcpTrigger',
			typeVersion: 2,
			parameters: { path: 'shop' },
		},
	};
	const tool = { ...place, ...TOOL, id: 'tool', name: CHARGE_NODE, parameters: chargeParameters() };
	const workflow = await stage.rest.createWorkflow({
		name: 'A shop for MCP clients',
		nodes: [server, { ...tool, credentials: credentials() }],
		connections: { [CHARGE_NODE]: { ai_tool: [[{ node: SERVER, type: 'ai_tool', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await stage.rest.publish(workflow);
	const schema = z.array(z.object({ type: z.literal('text'), text: z.string() }));
	return async () => {
		const client = new Client({ name: 'test', version: '1.0.0' });
		clients.push(client);
		const address = new URL(`${stage.url}/mcp/shop`);
		await client.connect(new StreamableHTTPClientTransport(address));
		const { tools } = await client.listTools();
		expect(
			tools.map(({ name, inputSchema: { properties = {} } }) => [
				name,
				Object.keys(properties).sort(),
			]),
		).toEqual([[CHARGE, Object.keys(newOrder()).sort()]]);
		return async (...orders) => {
			const answers: string[] = [];
			for (const order of orders) {
				const { content } = await client.callTool({ name: CHARGE, arguments: order });
				const text = schema
					.parse(content)
					.map((part) => part.text)
					.join('');
				answers.push(given(text.startsWith('[') ? JSON.parse(text) : text));
			}
			return answers;
		};
	};
}

/** The transaction in the rows that the tool gave; its words if it gave none. */
function given(output: unknown): string {
	const rows = z.array(z.object({ hash: z.string() })).safeParse(output);
	return rows.data?.[0]?.hash ?? JSON.stringify(output);
}

/** An order of a customer whom nobody has charged before. */
function newOrder(): Order {
	return {
		offer_hash: stage.sandbox.products[0]?.offers[0]?.hash,
		quantity: 2,
		customer_name: 'Maria da Silva',
		customer_email: 'maria@example.test',
		customer_phone: '(11) 91234-5678',
		customer_document: cpf((customers += 1)),
	};
}

/** The same order as a model may write it a second time. */
function otherwise(order: Order): Order {
	const customer_document = String(order.customer_document).replace(/\D/g, '');
	return { ...order, customer_name: ' MARIA  da Silva ', customer_document };
}

const hashes = (): string[] => stage.sandbox.transactions.map(({ hash }) => hash);

describe.each([
	["An agent of n8n's own", openAgent],
	['A client of the MCP Server Trigger', openServer],
])('%s that charges a second time', (_, publish) => {
	let open: () => Promise<Charge>;

	beforeAll(async () => {
		open = await publish();
	});

	it('is given the existing transaction, in the same chat and in another one, however the customer is spelled', async () => {
		const order = newOrder();
		const [one, other] = [await open(), await open()];

		const answers = [await one(order, order), await one(order), await other(otherwise(order))];

		expect(stage.sandbox.charges()).toBe(1);
		expect(new Set(answers.flat())).toEqual(new Set(hashes()));
	});

	it('at the same moment in two chats charges once', async () => {
		const order = newOrder();
		const [one, other] = [await open(), await open()];
		stage.sandbox.addFault({ kind: 'delay', ms: 1_000, endpoint: 'POST /transactions' });

		const answers = await Promise.all([one(order), other(order)]);

		expect(stage.sandbox.charges()).toBe(1);
		expect(answers.flat()).toContain(hashes()[0]);
	});

	it('is refused while it is not known what came of the first time; another customer is charged', async () => {
		const [order, another] = [newOrder(), newOrder()];
		const [one, other] = [await open(), await open()];
		stage.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		const [lost, ...again] = await one(order, order, otherwise(order));
		again.push(...(await other(order)));

		expect(lost).toMatch(IN_DOUBT);
		expect(again).toEqual([1, 2, 3].map(() => expect.stringMatching(REFUSED)));
		expect(stage.sandbox.charges()).toBe(1);
		expect(await other(another)).toEqual([hashes()[1]]);
	});
});
