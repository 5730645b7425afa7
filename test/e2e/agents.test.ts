import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { recipeOf } from '../../examples/source';
import { render } from '../../examples/source/workflow';
import { cpf } from '../helpers/charge';
import { ACTION } from '../helpers/e2e/workflows';
import { McpClient } from '../helpers/e2e/mcp';
import { MODEL, type ModelServer, serveModel } from '../helpers/e2e/models';
import { enterSharedN8n, type Guest } from '../helpers/e2e/sharedN8n';

/** The name by which a model calls the tool. */
const CHARGE = 'Charge_by_PIX';
const CHARGE_NODE = 'Charge by PIX';
const TOOL = { type: `${ACTION}Tool`, typeVersion: 1 };
const SERVER = 'MCP Server Trigger';

const idSchema = z.object({ id: z.string() });
const configSchema = z.object({ config: z.record(z.unknown()), configHash: z.string() });
const eventSchema = z.object({ type: z.string() }).passthrough();

/** What a model that charges fills in. */
type Order = Record<string, unknown>;
/** Charges in one chat or session, one after the other; returns the hash of each, or the error. */
type Charge = (...orders: Order[]) => Promise<string[]>;

let stage: Guest;
let model: ModelServer;
let customers = 100_200_300;

beforeAll(async () => {
	stage = await enterSharedN8n({ requestsPerMinute: null });
	model = await serveModel();
});
beforeEach(() => stage.sandbox.reset());
afterAll(async () => {
	await stage?.close();
	await model?.close();
});

/** The charging tool of a recipe, without its Order Reference, which is made from the chat. */
function chargeParameters(): Record<string, unknown> {
	const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
	const charge = nodes.find(({ name }) => name === CHARGE_NODE);
	return { ...charge?.parameters, orderReference: '' };
}

function credentials(): Record<string, { id: string; name: string }> {
	const { id, name } = stage.credential;
	return { digitalSalesApi: { id, name } };
}

/** One of n8n's own Agents, outside of any workflow, with our node as its only tool. Returns what opens a chat. */
async function openAgent(): Promise<() => Promise<Charge>> {
	const { rest } = stage;
	const key = { apiKey: 'test-model-key', url: model.url };
	const thinks = await rest.createCredential('Obedient model', 'deepSeekApi', key);
	const project = await rest.call(idSchema, 'GET', '/projects/personal');
	const agents = `/projects/${project.id}/agents/v2`;
	const { id } = await rest.call(idSchema, 'POST', `${agents}/`, { name: 'Seller' });
	const agent = `${agents}/${id}`;
	const { config, configHash } = await rest.call(configSchema, 'GET', `${agent}/config`);
	const node = {
		nodeType: TOOL.type,
		nodeTypeVersion: TOOL.typeVersion,
		nodeParameters: chargeParameters(),
		credentials: credentials(),
	};
	const description = 'Charges a customer by PIX.';
	await rest.call(z.unknown(), 'PUT', `${agent}/config`, {
		config: {
			...config,
			instructions: 'Do what you are asked to.',
			model: `deepseek/${MODEL}`,
			credential: thinks.id,
			tools: [{ type: 'node', name: CHARGE_NODE, description, node }],
		},
		baseConfigHash: configHash,
	});
	return async () => {
		const sessionId = randomUUID();
		return async (...orders) => {
			const message = JSON.stringify(orders.map((args) => ({ tool: CHARGE, args })));
			const response = await rest.send('POST', `${agent}/chat`, { message, sessionId });
			const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, event = '']) =>
				eventSchema.parse(JSON.parse(event)),
			);
			expect(events.filter(({ type }) => type === 'error')).toEqual([]);
			const results = events.filter(({ type }) => type === 'tool-result');
			return results.map(({ output }) => given(JSON.stringify(output)));
		};
	};
}

/** A workflow that is an MCP server with our node as its tool; returns a function that opens a session. */
async function openServer(): Promise<() => Promise<Charge>> {
	const position = [0, 0];
	const server = {
		id: 'server',
		name: SERVER,
		type: '@n8n/n8n-nodes-langchain.mcpTrigger',
		typeVersion: 2,
		position,
		webhookId: randomUUID(),
		parameters: { path: 'shop' },
	};
	const parameters = chargeParameters();
	const tool = { ...TOOL, id: 'tool', name: CHARGE_NODE, position, parameters };
	const workflow = await stage.rest.createWorkflow({
		name: 'A shop for MCP clients',
		nodes: [server, { ...tool, credentials: credentials() }],
		connections: { [CHARGE_NODE]: { ai_tool: [[{ node: SERVER, type: 'ai_tool', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await stage.rest.publish(workflow);
	return async () => {
		const client = await McpClient.connect(`${stage.url}/mcp/shop`);
		const tools = await client.tools();
		const fields = tools.map(({ inputSchema }) => Object.keys(inputSchema.properties).sort());
		expect(tools.map(({ name }) => name)).toEqual([CHARGE]);
		expect(fields).toEqual([Object.keys(newOrder()).sort()]);
		return async (...orders) => {
			const answers: string[] = [];
			for (const order of orders) answers.push(given(await client.call(CHARGE, order)));
			return answers;
		};
	};
}

/** The transaction in the answer of the tool, or the text of the answer. */
function given(output: string): string {
	return /"hash":"([^"]+)"/.exec(output)?.[1] ?? output;
}

/** An order of a new customer. */
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

	it('gets the existing transaction, in the same chat and in another chat, however the customer is spelled', async () => {
		const order = newOrder();
		const [one, other] = [await open(), await open()];

		const answers = [await one(order, order), await one(order), await other(otherwise(order))];

		expect(stage.sandbox.charges()).toBe(1);
		expect(new Set(answers.flat())).toEqual(new Set(hashes()));
	});
});
