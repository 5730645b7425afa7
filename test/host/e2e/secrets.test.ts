import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { WITHOUT_EDITOR } from '../n8n/n8n';
import { setUp, type SetUp } from '../n8n/setUp';
import { OPERATIONS } from '../../product/thorough/operations';
import { sampleOf } from '../../support/samples';
import type { Fault } from '../../sandbox';

const START = 'Start here';
const INSTALL_AND_START_MS = 15 * 60_000;

const FAULTS: Array<[string, Fault]> = [
	['an error that echoes the request', { kind: 'echoRequest' }],
	['a rejection that echoes the request', { kind: 'echoRequest', status: 422 }],
	['a success that echoes the request', { kind: 'echoRequest', status: 200 }],
	['a web page that echoes the request', { kind: 'echoRequest', format: 'html' }],
	['an unavailable service that echoes the request', { kind: 'echoRequest', status: 503 }],
	['a broken connection', { kind: 'resetAfterProcessing' }],
	['a body that is cut off', { kind: 'truncatedBody' }],
	['a redirect to another host', { kind: 'redirect', to: 'http://127.0.0.2:9/', status: 307 }],
];

let ready: SetUp;
/** What n8n answered when it was asked for the executions. */
const executions: string[] = [];

beforeAll(async () => {
	ready = await setUp('secrets', { env: { ...WITHOUT_EDITOR, N8N_LOG_LEVEL: 'debug' } });
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await ready?.n8n.close();
});

/** Another one in each execution: the same offer or charge would be refused after an unknown outcome. */
const OWN_PRICE = '={{ 19 + Number($execution.id) }}';

/** Each in a workflow of its own, with and without Continue on Fail. */
async function workflow(operation: string, onError: string): Promise<string> {
	// The faults alone would use up the twenty requests a minute.
	const more = operation === 'product/getAll' ? { requestLimit: 1_000 } : {};
	const values = { transactionHash: 'abc123', price: OWN_PRICE };
	const parameters = sampleOf(operation, ready.sandbox, values);
	const { id } = await ready.rest.createWorkflow({
		name: `${operation} ${onError}`,
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
				id: 'sales',
				name: 'Digital Sales',
				type: 'n8n-nodes-digital-sales.digitalSales',
				typeVersion: 1,
				position: [220, 0],
				parameters: { ...parameters, simplify: false, options: more },
				credentials: {
					digitalSalesApi: { id: ready.credential.id, name: ready.credential.name },
				},
				onError,
			},
		],
		connections: { [START]: { main: [[{ node: 'Digital Sales', type: 'main', index: 0 }]] } },
	});
	return id;
}

async function contents(folder: string): Promise<Array<[string, Buffer]>> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter(
		(entry) => entry.isFile() && !entry.parentPath.includes('node_modules'),
	);
	return await Promise.all(
		files.map(async (file): Promise<[string, Buffer]> => {
			const name = path.join(file.parentPath, file.name);
			return [name, await readFile(name)];
		}),
	);
}

describe.each(Object.values(OPERATIONS))('%s', (operation) => {
	it.each(['stopWorkflow', 'continueRegularOutput'])(
		'runs into every fault, with On Error: %s',
		async (onError) => {
			const id = await workflow(operation, onError);
			for (const [name, fault] of FAULTS) {
				ready.sandbox.clearFaults();
				ready.sandbox.addFault({ times: 'always', ...fault });
				const before = ready.sandbox.requests.length;
				executions.push(JSON.stringify([name, await ready.rest.run(id, START)]));
				expect(ready.sandbox.requests.length).toBeGreaterThan(before);
			}
			ready.sandbox.clearFaults();
		},
	);
});

describe('the trigger', () => {
	it('meets a service that echoes the request', async () => {
		ready.sandbox.addFault({ kind: 'echoRequest', times: 'always' });
		const response = await fetch(ready.journey.notificationUrl, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ hash: 'abc123', token: 'test-token-of-a-notice' }),
		});
		ready.sandbox.clearFaults();

		expect(response.status).toBe(503);
		expect(await response.text()).not.toContain(ready.sandbox.apiToken);
	});
});

describe('afterwards neither token stands', () => {
	const tokens = (): string[] => [ready.sandbox.apiToken, ready.sandbox.bodyApiToken];

	it('in what the editor shows of the executions', () => {
		expect(executions.length).toBe(8 * FAULTS.length);
		for (const token of tokens()) expect(executions.join('\n')).not.toContain(token);
	});

	it('in the log at debug level', async () => {
		const log = await readFile(ready.n8n.process.log, 'utf8');

		expect(log).toContain('debug');
		for (const token of tokens()) expect(log).not.toContain(token);
	});

	it('in the database, nor in any other file that n8n has written', async () => {
		await ready.n8n.process.stop();
		const files = await contents(ready.n8n.userFolder);

		expect(files.map(([name]) => path.basename(name))).toContain('database.sqlite');
		for (const [name, content] of files) {
			const found = tokens().filter((token) => content.includes(token));
			expect({ name, found }).toEqual({ name, found: [] });
		}
	});
});
