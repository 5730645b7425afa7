import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CREDENTIAL_TYPE } from '../n8n/paths';
import type { SavedCredential } from '../n8n/rest';
import { startSandbox, type Sandbox } from '../../sandbox';
import { Agent, type ObedientModel, serveObedientModel, type ToolResult } from './stage/models';
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
import { type Front, serveAccounts } from './stage/services';

const outputSchema = z.object({ data: z.array(z.object({ json: z.unknown() })) });

let stage: Guest;
let model: ObedientModel;
let modelCredential: SavedCredential;
let newOrder: () => Order;

beforeAll(async () => {
	stage = await Guest.enter({ requestsPerMinute: null });
	model = await serveObedientModel();
	modelCredential = await stage.rest.createCredential('Obedient model', 'deepSeekApi', {
		apiKey: 'test-model-key',
		url: model.url,
	});
	newOrder = ordersAt(stage.sandbox);
});
beforeEach(() => stage.sandbox.reset());
afterAll(async () => {
	await stage?.close();
	await model?.close();
});

/** An agent whose only tool charges at the account of a credential. */
async function sellerAt({ id, name }: SavedCredential, orderReference?: string): Promise<Agent> {
	return await Agent.create(stage.rest, `Seller ${randomUUID()}`, modelCredential, {
		name: CHARGE_NODE,
		description: 'Charges a customer by PIX.',
		nodeType: TOOL_TYPE,
		nodeTypeVersion: 1,
		nodeParameters: chargeParameters(orderReference),
		credentials: { digitalSalesApi: { id, name } },
	});
}

/** Has the agent charge for these orders, one after the other, in one message of a chat. */
async function charge(agent: Agent, chat: string, ...orders: Order[]): Promise<ToolResult[]> {
	return await agent.ask(
		chat,
		orders.map((args) => ({ tool: CHARGE, args })),
	);
}

/** The transactions that the tool gave, call by call; the text of the error where it gave none. */
function given(results: ToolResult[]): string[] {
	return results.map(({ output }) => {
		const read = outputSchema.safeParse(output);
		const rows = read.success ? read.data.data.map(({ json }) => json) : undefined;
		return hashIn(rows) ?? JSON.stringify(output);
	});
}

const hashes = (sandbox: Sandbox): string[] => sandbox.transactions.map(({ hash }) => hash);

describe("An agent of n8n's own that charges a second time", () => {
	let agent: Agent;

	beforeAll(async () => {
		agent = await sellerAt(stage.credential);
	});

	it('in the same chat is given the existing transaction', async () => {
		const [chat, order] = [randomUUID(), newOrder()];

		const answers = given(await charge(agent, chat, order, order));
		answers.push(...given(await charge(agent, chat, order)));

		const [made] = hashes(stage.sandbox);
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers).toEqual([made, made, made]);
	});

	it('in another chat is given the existing transaction, however the customer is spelled', async () => {
		const order = newOrder();

		const answers = [
			...given(await charge(agent, randomUUID(), order)),
			...given(await charge(agent, randomUUID(), order)),
			...given(await charge(agent, randomUUID(), otherwise(order))),
		];

		const [made] = hashes(stage.sandbox);
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers).toEqual([made, made, made]);
	});

	it('at the same moment in two chats charges once', async () => {
		const order = newOrder();
		stage.sandbox.addFault({ kind: 'delay', ms: 1_000, endpoint: 'POST /transactions' });

		const answers = await Promise.all(
			[randomUUID(), randomUUID()].map(async (chat) => given(await charge(agent, chat, order))),
		);

		const [made] = hashes(stage.sandbox);
		expect(stage.sandbox.charges()).toBe(1);
		expect(answers.flat()).toContain(made);
	});

	it('is refused while it is not known what came of the first time', async () => {
		const [order, another] = [newOrder(), newOrder()];
		stage.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		const [lost] = await charge(agent, randomUUID(), order);
		const again = [
			...(await charge(agent, randomUUID(), order, otherwise(order))),
			...(await charge(agent, randomUUID(), order)),
		];

		expect(lost).toMatchObject({ output: expect.stringMatching(IN_DOUBT), isError: true });
		expect(again.map(({ isError }) => isError)).toEqual([true, true, true]);
		for (const text of given(again)) expect(text).toMatch(REFUSED);
		expect(stage.sandbox.charges()).toBe(1);

		const [charged] = given(await charge(agent, randomUUID(), another));
		expect(stage.sandbox.charges()).toBe(2);
		expect(charged).toBe(hashes(stage.sandbox)[1]);
	});

	it('charges when the customer or the quantity is another', async () => {
		const [order, another] = [newOrder(), newOrder()];
		const orders = [order, another, { ...order, quantity: 3 }];

		const answers = given(await charge(agent, randomUUID(), ...orders));

		expect(stage.sandbox.charges()).toBe(3);
		expect(answers).toEqual(hashes(stage.sandbox));
	});
});

describe("Agents of n8n's own with two accounts of the same service", () => {
	let other: Sandbox;
	let front: Front;
	let credentials: [SavedCredential, SavedCredential];

	beforeAll(async () => {
		other = await startSandbox({
			requestsPerMinute: null,
			apiToken: 'test-api-token-of-another',
			bodyApiToken: 'test-body-token-of-another',
		});
		front = await serveAccounts([stage.sandbox, other]);
		const save = async (name: string, { apiToken, bodyApiToken }: Sandbox) =>
			await stage.rest.createCredential(name, CREDENTIAL_TYPE, {
				baseUrl: front.baseUrl,
				apiToken,
				bodyApiToken,
			});
		credentials = [await save('First', stage.sandbox), await save('Second', other)];
	});
	beforeEach(() => other.reset());
	afterAll(async () => {
		await front?.close();
		await other?.close();
	});

	it.each([
		['the same order', undefined],
		['the same Order Reference', 'order-7'],
	])('charge at each for %s', async (_same, orderReference) => {
		const order = newOrder();
		const [first, second] = [
			await sellerAt(credentials[0], orderReference),
			await sellerAt(credentials[1], orderReference),
		];

		const ofFirst = given(await charge(first, randomUUID(), order));
		const ofSecond = given(await charge(second, randomUUID(), order));

		const reads = [stage.sandbox, other].map((sandbox) =>
			sandbox.requests.filter(
				({ method, path }) => method === 'GET' && path.includes('transactions'),
			),
		);
		expect([ofFirst, ofSecond]).toEqual([hashes(stage.sandbox), hashes(other)]);
		expect([stage.sandbox.charges(), other.charges()]).toEqual([1, 1]);
		expect(reads).toEqual([[], []]);
	});

	it('leave each other alone while a charge of one is in doubt', async () => {
		const order = newOrder();
		const [first, second] = [await sellerAt(credentials[0]), await sellerAt(credentials[1])];
		stage.sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

		const [lost] = await charge(first, randomUUID(), order);
		const ofSecond = given(await charge(second, randomUUID(), order));

		expect(lost).toMatchObject({ output: expect.stringMatching(IN_DOUBT), isError: true });
		expect(ofSecond).toEqual(hashes(other));
		expect([stage.sandbox.charges(), other.charges()]).toEqual([1, 1]);
	});
});
