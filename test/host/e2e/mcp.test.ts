import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import {
	CHARGE,
	CHARGE_NODE,
	chargeParameters,
	hashIn,
	IN_DOUBT,
	ordersAt,
	otherwise,
	REFUSED,
	TOOL_TYPE,
	type Order,
} from './stage/chargeTool';
import { Guest } from './stage/sharedN8n';

const SERVER = 'MCP Server Trigger';
const PATH = 'shop';

const contentSchema = z.array(z.object({ type: z.literal('text'), text: z.string() }));

let stage: Guest;
let newOrder: () => Order;
const clients: Client[] = [];

beforeAll(async () => {
	stage = await Guest.enter({ requestsPerMinute: null });
	newOrder = ordersAt(stage.sandbox);
	await serveTool();
});
beforeEach(() => stage.sandbox.reset());
afterEach(async () => {
	for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => await stage?.close());

/** Publishes a workflow that is an MCP server with our node as its tool. */
async function serveTool(): Promise<void> {
	const { rest, credential } = stage;
	const place = { position: [0, 0] };
	const workflow = await rest.createWorkflow({
		name: 'A shop for MCP clients',
		nodes: [
			{
				...place,
				id: randomUUID(),
				name: SERVER,
				type: '@n8n/n8n-nodes-langchain.mcpTrigger',
				typeVersion: 2,
				webhookId: randomUUID(),
				parameters: { path: PATH },
			},
			{
				...place,
				id: randomUUID(),
				name: CHARGE_NODE,
				type: TOOL_TYPE,
				typeVersion: 1,
				parameters: chargeParameters(),
				credentials: { digitalSalesApi: { id: credential.id, name: credential.name } },
			},
		],
		connections: { [CHARGE_NODE]: { ai_tool: [[{ node: SERVER, type: 'ai_tool', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	});
	await rest.publish(workflow);
}

/** A client with a session of its own. */
async function connect(): Promise<Client> {
	const client = new Client({ name: 'test', version: '1.0.0' });
	clients.push(client);
	const address = new URL(`${stage.url}/mcp/${PATH}`);
	await client.connect(new StreamableHTTPClientTransport(address));
	return client;
}

/** What the tool answered; if it is no transaction, its text. */
async function charge(client: Client, order: Order): Promise<string> {
	const { content } = await client.callTool({ name: CHARGE, arguments: order });
	const text = contentSchema
		.parse(content)
		.map((part) => part.text)
		.join('');
	return hashIn(parsed(text)) ?? text;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

const hashes = (): string[] => stage.sandbox.transactions.map(({ hash }) => hash);

describe('A client of the MCP Server Trigger', () => {
	it('is told of the tool and what to fill in', async () => {
		const client = await connect();

		const { tools } = await client.listTools();

		expect(tools.map(({ name }) => name)).toEqual([CHARGE]);
		expect(Object.keys(tools[0]?.inputSchema.properties ?? {}).sort()).toEqual(
			Object.keys(newOrder()).sort(),
		);
	});

	it('that charges a second time in its session is given the existing transaction', async () => {
		const [client, order] = [await connect(), newOrder()];

		const answers = [await charge(client, order), await charge(client, order)];

		const [made] = hashes();
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers).toEqual([made, made]);
	});

	it('that charges again in another session is given it too, however the customer is spelled', async () => {
		const order = newOrder();

		const answers = [
			await charge(await connect(), order),
			await charge(await connect(), order),
			await charge(await connect(), otherwise(order)),
		];

		const [made] = hashes();
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers).toEqual([made, made, made]);
	});

	it('that charges at the same moment as another charges once', async () => {
		const [one, other, order] = [await connect(), await connect(), newOrder()];
		stage.sandbox.addFault({ kind: 'delay', ms: 1_000, endpoint: 'POST /transactions' });

		const answers = await Promise.all([charge(one, order), charge(other, order)]);

		const [made] = hashes();
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers).toContain(made);
	});

	it('is refused while it is not known what came of the first time', async () => {
		const [client, order, another] = [await connect(), newOrder(), newOrder()];
		stage.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		const lost = await charge(client, order);
		const again = [
			await charge(client, order),
			await charge(client, otherwise(order)),
			await charge(await connect(), order),
		];

		expect(lost).toMatch(IN_DOUBT);
		for (const answer of again) expect(answer).toMatch(REFUSED);
		expect(stage.sandbox.charges()).toBe(1);

		const charged = await charge(client, another);
		expect(stage.sandbox.charges()).toBe(2);
		expect(charged).toBe(hashes()[1]);
	});

	it('charges when the customer or the quantity is another', async () => {
		const [client, order, another] = [await connect(), newOrder(), newOrder()];

		const answers = [
			await charge(client, order),
			await charge(client, another),
			await charge(client, { ...order, quantity: 3 }),
		];

		expect(stage.sandbox.charges()).toBe(3);
		expect(answers).toEqual(hashes());
	});
});
