import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cpf } from '../helpers/charge';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import type { Execution } from '../helpers/n8n/execution';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { ROOT } from '../helpers/n8n/paths';
import { expectTriggerNotifiedIfPublished } from '../helpers/e2e/notified';
import {
	ACTION,
	addressOf,
	cartOf,
	chainOf,
	createPix,
	END,
	LIST,
	type NodeSketch,
	publish,
	split,
	trigger,
	waitForPayment,
	webStart,
} from '../helpers/e2e/workflows';

const FOLDER = path.join(ROOT, 'nodes', 'DigitalSales', 'n8n');
const START_MS = 15 * 60_000;
const TEST_MS = 180_000;

let n8n: N8n;
let customers = 700_800_900;

beforeAll(async () => {
	n8n = await startN8n('e2e-facts', {
		sandbox: { resendAfterSeconds: [] },
	});
}, START_MS);
beforeEach(() => n8n.sandbox.reset());
afterAll(async () => await n8n?.close());

const charge = (more: object = {}): NodeSketch => {
	customers += 1;
	return createPix({
		cart: cartOf(n8n.sandbox),
		customerDocument: cpf(customers),
		webhooksGoTo: 'none',
		...more,
	});
};
/** Publishes a workflow that begins with a POST; returns a function that starts it and waits for its end. */
const published = async (name: string, ...nodes: NodeSketch[]) => {
	const { id } = await publish(n8n, name, [webStart(name), ...nodes]);
	const start = async (body: object = {}) =>
		await n8n.rest.startedBy(
			id,
			async () => void (await postJson(`${n8n.url}/webhook/${name}`, body)),
		);
	return { start, run: async (body?: object) => await n8n.rest.ended(await start(body)) };
};
const retried = async ({ summary }: Execution): Promise<Execution> =>
	await n8n.rest.ended(await n8n.rest.retry(summary.id, false));
const newest = () => n8n.sandbox.transactions.at(-1);
const paid = async (): Promise<string> => {
	const { hash } = newest() ?? { hash: '' };
	await n8n.sandbox.setStatus(hash, 'paid');
	return hash;
};

/** Charges the documents one after the other, in a loop of one execution. */
async function loop(name: string, documents: string[]): Promise<void> {
	const rounds: NodeSketch = {
		name: 'Rounds',
		type: 'n8n-nodes-base.splitInBatches',
		typeVersion: 3,
		parameters: { options: {} },
	};
	const start = [webStart(name), split('Split', 'body.orders'), rounds];
	const customerDocument = '={{ $json.document }}';
	const file = chainOf(name, n8n.credential, start, [charge({ customerDocument })]);
	const to = (node: string) => [{ node, type: 'main', index: 0 }];
	file.connections.Rounds = { main: [[], to('Charge')] };
	file.connections.Charge = { main: [to('Rounds')] };
	const saved = await n8n.rest.createWorkflow(file);
	await n8n.rest.publish(saved);
	const orders = documents.map((document) => ({ document }));
	const post = async () => void (await postJson(`${n8n.url}/webhook/${name}`, { orders }));
	await n8n.rest.ended(await n8n.rest.startedBy(saved.id, post));
}

/** The behavior of n8n that the package needs beyond n8n's published types, by file and fact. */
const FACTS: Record<string, () => Promise<void>> = {
	'webhook answered': async () => {
		const saved = await publish(n8n, 'fact-answered', [trigger('fact-answered'), END]);
		await (await published('fact-answered-sale', charge())).run();
		const url = addressOf(n8n, 'fact-answered');
		const answer = await postJson(url, { hash: await paid() });
		expect(answer.status).toBe(200);
		expect(await n8n.rest.executions(saved.id)).toHaveLength(1);

		// A sender that leaves during the read.
		await (await published('fact-answered-left', charge())).run();
		const body = { hash: await paid(), status: 'paid' };
		n8n.sandbox.addFault({ endpoint: 'GET /transactions/{hash}', kind: 'delay', ms: 1_000 });
		const signal = AbortSignal.timeout(500);
		const headers = { 'content-type': 'application/json' };
		const left = fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
		await expect(left).rejects.toThrow('timeout');
		const isTaken = async () => (await postJson(url, body)).status === 200;
		await until('its repeat is a duplicate', isTaken, { withinMs: 30_000 });
		expect(await n8n.rest.executions(saved.id)).toHaveLength(2);
	},
	'execution engine2': async () => {
		expect(await (await published('fact-engine2', END)).start()).toMatch(/^\d+$/);
	},
	httpHelper: async () => {
		const { run } = await published('fact-httpHelper', LIST);
		const body = { message: 'Closed today' };
		n8n.sandbox.addFault({ endpoint: 'GET /products', kind: 'status', status: 403, body });
		expect((await run()).complaint).toContain('Closed today');
		expect((await run()).items('List').length).toBeGreaterThan(0);
	},
	'triggers listening': async () => await expectTriggerNotifiedIfPublished(n8n),
	'execution runIndex': async () => {
		await loop('fact-runIndex', [cpf(101_202_307), cpf(101_202_307)]);
		expect(n8n.sandbox.charges()).toBe(1);
		// If each round were the first, the second would be a changed form of it.
		await loop('fact-runIndex-rounds', [cpf(101_202_305), cpf(101_202_306)]);
		expect(n8n.sandbox.charges()).toBe(3);
	},
	'parking wait': async () => {
		const { start } = await published('fact-parking', charge(), waitForPayment());
		const id = await start();
		await until('it waits', async () => (await n8n.rest.status(id)) === 'waiting');
		await paid();
		const execution = await n8n.rest.ended(id);
		expect(execution.runs('Wait')).toBe(1);
		expect(execution.items('Wait', 1)).toMatchObject([{ json: { paid: true } }]);
	},
	processedItems: async () => {
		const order = { orderReference: '={{ $json.body.order }}' };
		const { run } = await published('fact-processedItems', charge(order));
		const [first, second] = [await run({ order: 'a' }), await run({ order: 'a' })];
		expect(first.items('Charge')[0]?.json.hash).toBe(second.items('Charge')[0]?.json.hash);
		expect(n8n.sandbox.charges()).toBe(1);
	},
	'parking recovery': async () => {
		const { start } = await published('fact-recovery', charge(), waitForPayment());
		const id = await start();
		await until('it waits', async () => (await n8n.rest.status(id)) === 'waiting');
		await n8n.restart();
		await paid();
		const isOver = async () => (await n8n.rest.status(id)) === 'success';
		await until('it ends, which n8n shows as crashed for a while', isOver, { withinMs: 150_000 });
		const execution = await n8n.rest.execution(id);
		expect(execution.items('Wait', 1)).toMatchObject([{ json: { paid: true } }]);
	},
	'webhook requestBody': async () => {
		const saved = await publish(n8n, 'fact-requestBody', [trigger('fact-requestBody'), END]);
		const url = addressOf(n8n, 'fact-requestBody');
		const form = new FormData();
		form.set('data[hash]', 'nosuch1');
		const bodies = [form, new Blob(['{"hash":"nosuch2"}'], { type: 'application/vnd.shop' })];
		for (const body of bodies) {
			const { status } = await fetch(url, { method: 'POST', body });
			// Without a hash that can be read, the answer is 400.
			expect(status).toBe(503);
		}
		expect(await n8n.rest.executions(saved.id)).toEqual([]);
	},
	'execution resumeUrl': async () => {
		const nodes = [charge({ webhooksGoTo: 'automatic' }), waitForPayment()];
		const id = await (await published('fact-resumeUrl', ...nodes)).start();
		await until('it waits', async () => (await n8n.rest.status(id)) === 'waiting');
		const { hash = '', postback_url: address } = newest() ?? {};
		expect(address).toContain(`/webhook-waiting/${id}/digital-sales`);
		const [told] = await n8n.sandbox.pay(hash);
		expect(told?.status).toBe(200);
		await n8n.rest.ended(id);
	},
	'execution retry': async () => {
		const { run } = await published(
			'fact-retry',
			split('Split', 'body.orders'),
			charge({ customerDocument: '={{ $json.document }}' }),
		);
		const orders = [cpf(101_202_303), cpf(101_202_304)].map((document) => ({ document }));
		n8n.sandbox.addFault({
			endpoint: 'POST /transactions',
			kind: 'status',
			status: 422,
			after: 1,
		});
		const failed = await run({ orders });
		expect(failed.error).toBeDefined();
		n8n.sandbox.clearFaults();
		expect((await retried(failed)).items('Charge')).toHaveLength(2);
		expect(n8n.sandbox.charges()).toBe(2);
	},
	'webhook testListening': async () => {
		await (await published('fact-testListening-sale', charge())).run();
		const testTransaction = await paid();
		const chain = [trigger('fact-testListening', { testTransaction }), END];
		const saved = await n8n.rest.createWorkflow(
			chainOf('fact-testListening', n8n.credential, chain),
		);
		const id = await n8n.rest.startedBy(
			saved.id,
			async () => await n8n.rest.listen(saved.id, 'Trigger'),
		);
		expect((await n8n.rest.ended(id)).items('End')).toHaveLength(1);
	},
	'execution tool': async () => {
		const names = (await n8n.rest.nodeTypes()).map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining([ACTION, `${ACTION}Tool`]));
	},
	'execution settings': async () => {
		const chain = [{ ...trigger('fact-triggerExecution'), alwaysOutputData: true }, END];
		const { id } = await publish(n8n, 'fact-triggerExecution', chain);
		await (await published('fact-triggerExecution-sale', charge())).run();
		const hash = await paid();
		const notified = async () => {
			const url = addressOf(n8n, 'fact-triggerExecution');
			const notify = async () => void (await postJson(url, { hash }));
			return await n8n.rest.ended(await n8n.rest.startedBy(id, notify));
		};
		const first = await notified();
		// Without the memory of the process, only `execute` knows the repeat.
		await n8n.restart();
		const second = await notified();
		expect([first.runs('End'), second.runs('End')]).toEqual([1, 0]);
	},
	'triggers workflowTriggers': async () => {
		const notify = [webStart('fact-workflowTriggers'), charge({ webhooksGoTo: 'automatic' })];
		const sale = [trigger('fact-workflowTriggers-sale'), END];
		const { id } = await publish(n8n, 'fact-workflowTriggers', notify, sale);
		const post = async () => void (await postJson(`${n8n.url}/webhook/fact-workflowTriggers`, {}));
		await n8n.rest.ended(await n8n.rest.startedBy(id, post));
		expect(newest()?.postback_url).toBe(addressOf(n8n, 'fact-workflowTriggers-sale'));
	},
};

/** The files of n8n/, once for each of their facts: its comment names the version of n8n. */
function filesOfFacts(): string[] {
	return readdirSync(FOLDER).flatMap((file) => {
		const facts = readFileSync(path.join(FOLDER, file), 'utf8').match(/\bn8n 2\.\d+\.\d+/g) ?? [];
		return facts.map(() => path.parse(file).name);
	});
}

test('every fact of n8n/ has its test here', () => {
	const tested = Object.keys(FACTS).map((fact) => fact.split(' ')[0]);
	expect(tested.sort()).toEqual(filesOfFacts().sort());
});

const expectFact = async (fact: string): Promise<void> => await FACTS[fact]?.();
test.each(Object.keys(FACTS))(
	'n8n works as nodes/DigitalSales/n8n expects: %s',
	async (fact) => await expectFact(fact),
	TEST_MS,
);
