import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { INodeParameters } from 'n8n-workflow';
import { type N8n, startN8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { OPERATIONS } from '../helpers/thorough/operations';
import { postJson } from '../helpers/http';
import { filesIn } from '../tools/package/unpack';
import { sampleOf } from '../helpers/samples';
import type { Fault } from '../sandbox';
import {
	ACTION,
	addressOf,
	BY_HAND,
	chainOf,
	END,
	publish,
	trigger,
} from '../helpers/e2e/workflows';

const INSTALL_AND_START_MS = 15 * 60_000;

const FAULTS: Array<[string, Fault]> = [
	['an error that echoes the request', { kind: 'echoRequest' }],
	['a rejection that echoes the request', { kind: 'echoRequest', status: 422 }],
	['a success that echoes the request', { kind: 'echoRequest', status: 200 }],
	['a web page that echoes the request', { kind: 'echoRequest', format: 'html' }],
	['an unavailable platform that echoes the request', { kind: 'echoRequest', status: 503 }],
	['a broken connection', { kind: 'resetAfterProcessing' }],
	['a body that is cut off', { kind: 'truncatedBody' }],
	['a redirect to another host', { kind: 'redirect', to: 'http://127.0.0.2:9/', status: 307 }],
];

let n8n: N8n;
const workflowIds: string[] = [];
/** n8n's answers with the executions. */
const executions: string[] = [];

beforeAll(async () => {
	n8n = await startN8n('secrets', { env: { ...WITHOUT_EDITOR, N8N_LOG_LEVEL: 'debug' } });
	await publish(n8n, 'sales', [trigger('secrets'), END]);
	for (const operation of Object.values(OPERATIONS)) {
		for (const onError of ['stopWorkflow', 'continueRegularOutput'] as const) {
			const sales = { name: 'Sales', type: ACTION, parameters: parametersOf(operation), onError };
			const workflow = chainOf(operation, n8n.credential, [BY_HAND, sales]);
			workflowIds.push((await n8n.rest.createWorkflow(workflow)).id);
		}
	}
}, INSTALL_AND_START_MS);

afterAll(async () => await n8n?.close());

/** Another offer and another charge in each execution, because they would be refused after an unknown outcome. */
const OWN_PRICE = '={{ 19 + Number($execution.id) }}';

function parametersOf(operation: string): INodeParameters {
	const values = { transactionHash: 'abc123', price: OWN_PRICE };
	return { ...sampleOf(operation, n8n.sandbox, values), simplify: false };
}

it.each(FAULTS)('every operation meets %s, whether it stops at errors or not', async (_, fault) => {
	n8n.sandbox.addFault({ times: 'always', ...fault });
	const before = n8n.sandbox.requests.length;

	const ended = await Promise.all(
		workflowIds.map(async (id) => await n8n.rest.run(id, BY_HAND.name)),
	);

	n8n.sandbox.clearFaults();
	executions.push(...ended.map((execution) => JSON.stringify(execution)));
	const asked = n8n.sandbox.requests.slice(before).map(({ method, path }) => method + path);
	expect(new Set(asked).size).toBe(Object.keys(OPERATIONS).length);
});

it('the trigger meets a platform that echoes the request', async () => {
	n8n.sandbox.addFault({ kind: 'echoRequest', times: 'always' });
	const { status, text } = await postJson(addressOf(n8n, 'secrets'), { hash: 'abc123' });
	n8n.sandbox.clearFaults();

	expect(status).toBe(503);
	expect(text).not.toContain(n8n.sandbox.apiToken);
});

describe('afterwards neither token is', () => {
	const tokens = (): string[] => [n8n.sandbox.apiToken, n8n.sandbox.bodyApiToken];

	it('in what the editor shows of the executions', () => {
		expect(executions.length).toBe(8 * FAULTS.length);
		for (const token of tokens()) expect(executions.join('\n')).not.toContain(token);
	});

	it('in the log at debug level', async () => {
		const log = await readFile(n8n.main.log, 'utf8');

		expect(log).toContain('debug');
		for (const token of tokens()) expect(log).not.toContain(token);
	});

	it('in the database or in any other file that n8n has written', async () => {
		await n8n.main.stop();
		const folder = n8n.userFolder;
		const files = (await filesIn(folder)).filter((name) => !name.includes('node_modules'));

		expect(files).toContain('.n8n/database.sqlite');
		for (const name of files) {
			const content = await readFile(path.join(folder, name));
			expect([name, tokens().filter((token) => content.includes(token))]).toEqual([name, []]);
		}
	});
});
