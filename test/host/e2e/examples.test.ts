import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NodeHelpers, type INodeTypeDescription } from 'n8n-workflow';
import { Example } from '../n8n/examples';
import { DATA_FOLDER, PACKAGE_NAME } from '../n8n/paths';
import type { SavedWorkflow } from '../n8n/rest';
import { setUp, type ImportedExample, type SetUp } from '../n8n/setUp';
import { NOTICE_SHAPES } from '../../sandbox';

type SavedNode = SavedWorkflow['nodes'][number];

const START = 'Start here';
const INSTALL_AND_START_MS = 15 * 60_000;
const HEARD_WITHIN_MS = 30_000;

let userFolder: string;
let ready: SetUp;

beforeAll(async () => {
	userFolder = await mkdtemp(path.join(tmpdir(), 'digital-sales-examples-'));
	ready = await setUp({ userFolder, log: path.join(DATA_FOLDER, 'examples.log') });
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await ready?.stop();
	await rm(userFolder, { recursive: true, force: true, maxRetries: 3 });
});

function example(file: string): ImportedExample {
	const found = ready.examples.find((one) => one.file === file);
	if (!found) throw new Error(`examples/${file} is missing.`);
	return found;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
	const deadline = Date.now() + HEARD_WITHIN_MS;
	for (;;) {
		const seen = await look();
		if (seen !== undefined) return seen;
		if (Date.now() > deadline) throw new Error('It did not happen in time');
		await pause(100);
	}
}

/** What the editor would mark the node for; undefined if there is nothing. */
function issuesOf(node: SavedNode, types: INodeTypeDescription[]): unknown {
	const type = types.find(
		({ name, version }) => name === node.type && [version].flat().includes(node.typeVersion),
	);
	if (!type) return `There is no ${node.type} of version ${node.typeVersion}`;
	const { properties, credentials = [] } = type;
	const parameters =
		NodeHelpers.getNodeParameters(properties, node.parameters, true, false, node, type) ?? {};
	const whole = { ...node, parameters };
	const unchosen = credentials.filter(
		(credential) =>
			credential.required === true &&
			NodeHelpers.displayParameter(parameters, credential, node, type) &&
			(node.credentials?.[credential.name]?.id ?? null) === null,
	);
	const issues = NodeHelpers.getNodeParametersIssues(properties, whole, type);
	return issues ?? (unchosen.length > 0 ? unchosen : undefined);
}

it('has nothing left to fill in in any example once the credentials are chosen', async () => {
	const types = await ready.rest.nodeTypes();
	const model = await ready.rest.createCredential('Model', 'openAiApi', { apiKey: 'test-key' });
	const seen: string[] = [];
	for (const one of await Example.all()) {
		const chosen = await ready.rest.createWorkflow(one.complete(ready.credential, model));
		for (const node of chosen.nodes) {
			expect([one.file, node.name, issuesOf(node, types)]).toEqual([
				one.file,
				node.name,
				undefined,
			]);
			seen.push(node.type);
		}
		const unchosen = await ready.rest.createWorkflow(one.workflow);
		const own = unchosen.nodes.filter(({ type }) => type.startsWith(PACKAGE_NAME));
		expect(own.map((node) => issuesOf(node, types))).not.toContain(undefined);
	}
	for (const type of ['digitalSales', 'digitalSalesTool', 'digitalSalesTrigger']) {
		expect(seen).toContain(`${PACKAGE_NAME}.${type}`);
	}
});

it('makes an offer from a row, with its price in reais', async () => {
	const run = await ready.rest.run(example('offer-from-row.json').workflow.id, START);

	expect(run.error).toBeUndefined();
	expect(ready.sandbox.offers.at(-1)?.request).toMatchObject({
		title: 'Black Friday',
		price: 4990,
	});
});

it('delivers the goods only after the charge is paid', async () => {
	const { workflow } = example('charge-and-deliver.json');
	const id = await ready.rest.start(workflow.id, START);
	await until(async () =>
		(await ready.rest.executions(workflow.id)).find(({ status }) => status === 'waiting'),
	);
	const waiting = await ready.rest.execution(id);
	const [charged] = waiting.items('Charge the customer by PIX');
	const hash = String(charged?.json.hash);

	expect(charged?.binary).toHaveProperty('qrCode');
	expect(waiting.items('Deliver the goods')).toEqual([]);

	await ready.sandbox.pay(hash);
	const ended = await ready.rest.ended(id);
	expect(ended.error).toBeUndefined();
	expect(ended.items('Deliver the goods').map(({ json }) => json)).toMatchObject([
		{ paid: true, hash, payment_status: 'paid', timedOut: false },
	]);
	expect(ready.sandbox.charges()).toBe(1);
});

it('hands a paid sale on once, however often the service tells of it', async () => {
	const { workflow, notificationUrl } = example('paid-sale-to-crm.json');
	const hash = ready.sandbox.transactions.at(-1)?.hash ?? '';

	for (const shape of NOTICE_SHAPES) {
		await ready.sandbox.notify(hash, { shape, url: notificationUrl });
	}

	const summary = await until(async () => (await ready.rest.executions(workflow.id))[0]);
	const run = await ready.rest.ended(summary.id);
	expect(run.items('Hand the sale to your CRM').map(({ json }) => json)).toMatchObject([
		{ name: 'Maria da Silva', email: 'maria@example.test', reference: hash },
	]);
	expect(run.items('Add a row to your spreadsheet')).toHaveLength(1);
	expect(await ready.rest.executions(workflow.id)).toHaveLength(1);
});
