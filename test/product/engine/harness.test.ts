import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
	NodeApiError,
	NodeConnectionTypes,
	NodeOperationError,
	sleep,
	type ICredentialType,
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeProperties,
	type INodeType,
	type INodeTypeDescription,
	type JsonObject,
} from 'n8n-workflow';
import type { StatefulTrigger } from './fixtures/StatefulTrigger';
import {
	activateTrigger,
	everythingIn,
	NO_OP_TYPE,
	NodeProcess,
	runCredentialTest,
	runListSearch,
	runNode,
	runWorkflow,
	sendRequest,
	serveWebhook,
	START_TYPE,
	type NodeSources,
} from './harness';

interface Received {
	method: string;
	url: string;
	headers: IncomingHttpHeaders;
	body: string;
}

const TYPE = 'test.double';
const CREDENTIAL = 'testApi';

let server: Server;
let baseUrl: string;
let received: Received[];
let hangUps: number;

beforeAll(async () => {
	server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const { method = '', url = '', headers } = request;
			received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
			if (url.startsWith('/hang')) {
				response.on('close', () => (hangUps += 1));
				return;
			}
			response.statusCode = url.startsWith('/missing') ? 404 : 200;
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify({ url, message: 'from the server' }));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
	received = [];
	hangUps = 0;
});

afterAll(async () => {
	await new Promise((resolve) => {
		server.close(resolve);
		server.closeAllConnections();
	});
});

function text(name: string, extra: Partial<INodeProperties> = {}): INodeProperties {
	return { displayName: name, name, type: 'string', default: '', ...extra };
}

function describeDouble(properties: INodeProperties[]): INodeTypeDescription {
	return {
		displayName: 'Double',
		name: 'double',
		group: ['transform'],
		version: 1,
		description: '',
		defaults: { name: 'Double' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIAL }],
		properties,
	};
}

function double(
	execute: (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>,
	properties: INodeProperties[] = [],
): { type: string; nodeTypes: Record<string, INodeType> } {
	return {
		type: TYPE,
		nodeTypes: { [TYPE]: { description: describeDouble(properties), execute } },
	};
}

const genericCredential: ICredentialType = {
	name: CREDENTIAL,
	displayName: 'Test API',
	properties: [
		text('token', { typeOptions: { password: true } }),
		text('scheme', { default: 'Bearer' }),
	],
	authenticate: {
		type: 'generic',
		properties: { headers: { Authorization: '={{$credentials.scheme}} {{$credentials.token}}' } },
	},
};

const functionCredential: ICredentialType = {
	...genericCredential,
	authenticate: async (credentials, request) => ({
		...request,
		headers: { ...request.headers, 'x-token': String(credentials.token) },
	}),
};

/** Asks the server for one path per item, with the credential, and handles errors as nodes do. */
const caller = double(
	async function () {
		const out: INodeExecutionData[] = [];
		for (const index of this.getInputData().keys()) {
			try {
				const path = this.getNodeParameter('path', index) as string;
				const json = (await this.helpers.httpRequestWithAuthentication.call(this, CREDENTIAL, {
					url: `${baseUrl}${path}`,
				})) as IDataObject;
				out.push({ json, pairedItem: { item: index } });
			} catch (error) {
				if (!this.continueOnFail()) {
					throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: index });
				}
				out.push({ json: { error: (error as Error).message }, pairedItem: { item: index } });
			}
		}
		return [out];
	},
	[text('path', { default: '/default' })],
);

describe('runNode', () => {
	test.each([
		['declared', genericCredential, 'authorization', 'Bearer secret'],
		['coded', functionCredential, 'x-token', 'secret'],
	])('sends real requests with a %s authentication', async (_, type, header, value) => {
		const run = await runNode(
			{ path: '/one' },
			{
				...caller,
				credentials: { [CREDENTIAL]: { token: 'secret' } },
				credentialTypes: { [CREDENTIAL]: type },
			},
		);

		expect(run.status).toBe('success');
		expect(run.json).toEqual([{ url: '/one', message: 'from the server' }]);
		expect(received).toHaveLength(1);
		expect(received[0]?.headers[header]).toBe(value);
	});

	const withCredential = {
		credentials: { [CREDENTIAL]: { token: 'secret' } },
		credentialTypes: { [CREDENTIAL]: genericCredential },
	};

	test('evaluates expressions per item and fills in the defaults of the form', async () => {
		const items = [{ id: 1 }, { id: 2 }];
		const run = await runNode(
			{ path: '=/item/{{ $json.id }}' },
			{ ...caller, ...withCredential, items },
		);
		const plain = await runNode({}, { ...caller, ...withCredential });

		expect(run.json.map(({ url }) => url)).toEqual(['/item/1', '/item/2']);
		expect(run.items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(plain.json[0]?.url).toBe('/default');
	});

	test('stops at a failing item, or goes on where the node is told to', async () => {
		const parameters = { path: '={{ $json.path }}' };
		const items = [{ path: '/missing' }, { path: '/there' }];
		const stopped = await runNode(parameters, { ...caller, ...withCredential, items });
		const went = await runNode(parameters, {
			...caller,
			...withCredential,
			items,
			continueOnFail: true,
		});

		expect(stopped.status).toBe('error');
		expect(stopped.items).toEqual([]);
		expect(stopped.node?.error).toMatchObject({ httpCode: '404' });
		expect(stopped.error?.message).toBe(stopped.node?.error?.message);
		expect(went.status).toBe('success');
		expect(went.json).toEqual([
			{ error: expect.any(String) as string },
			{ url: '/there', message: 'from the server' },
		]);
	});

	test('sends failed items to an error output of their own', async () => {
		const run = await runNode(
			{ path: '={{ $json.path }}' },
			{
				...caller,
				...withCredential,
				items: [{ path: '/missing' }, { path: '/there' }],
				settings: { onError: 'continueErrorOutput' },
			},
		);

		expect(run.outputs.map((items) => items.map(({ json }) => json.url ?? json.path))).toEqual([
			['/there'],
			['/missing'],
		]);
	});

	test('refuses to run a node whose required parameter is empty', async () => {
		const node = double(
			async () => [[]],
			[text('needed', { displayName: 'Needed', required: true })],
		);
		const run = await runNode({}, node);

		expect(run.status).toBe('error');
		expect(run.error?.message).toContain('issues');
		expect(run.data).toEqual({});
	});

	test('refuses a credential that nobody entered', async () => {
		const run = await runNode({}, { ...caller, credentialTypes: withCredential.credentialTypes });

		expect(run.status).toBe('error');
		expect(received).toEqual([]);
	});

	test('a canceled run hangs up and ends as canceled', async () => {
		const running = runNode({ path: '/hang' }, { ...caller, ...withCredential });
		while (received.length === 0) await sleep(5);
		running.cancel();
		const run = await running;
		while (hangUps === 0) await sleep(5);

		expect(run.status).toBe('canceled');
		expect(hangUps).toBe(1);
	});

	test('a run can be canceled by a signal, before it began too', async () => {
		const run = await runNode({}, { ...caller, ...withCredential, signal: AbortSignal.abort() });

		expect(run.status).toBe('canceled');
		expect(received).toEqual([]);
	});

	test('collects hints and the log of that run alone', async () => {
		const node = double(async function () {
			this.addExecutionHints({ message: 'Mind the gap', location: 'outputPane' });
			await sleep(5);
			this.logger.debug('from the node', { token: 'in-the-log' });
			return [this.getInputData()];
		});
		const [first, second] = await Promise.all([runNode({}, node), runNode({}, node)]);

		for (const run of [first, second]) {
			expect(run.hints).toEqual([{ message: 'Mind the gap', location: 'outputPane' }]);
			expect(run.logs.filter(({ message }) => message === 'from the node')).toHaveLength(1);
			expect(everythingIn(run)).toContain('in-the-log');
		}
	});

	test('keeps binary data in the item', async () => {
		const node = double(async function () {
			const binary = await this.helpers.prepareBinaryData(
				Buffer.from('PNG'),
				'qr.png',
				'image/png',
			);
			return [[{ json: {}, binary: { data: binary } }]];
		});
		const run = await runNode({}, node);

		expect(run.items[0]?.binary?.data).toMatchObject({
			mimeType: 'image/png',
			data: Buffer.from('PNG').toString('base64'),
		});
	});
});

describe('runWorkflow', () => {
	const counter = double(async function () {
		const data = this.getWorkflowStaticData('node');
		data.count = Number(data.count ?? 0) + 1;
		return [[{ json: { count: data.count } }]];
	});
	const nodes = [
		{ name: 'Start', type: START_TYPE },
		{ name: 'Count', type: TYPE },
	];

	test('stores changed static data, but not that of a manual run', async () => {
		const staticData = { 'node:Count': { count: 41 } };
		const { nodeTypes } = counter;
		const production = await runWorkflow({ nodes, nodeTypes, staticData, mode: 'trigger' });
		const manual = await runWorkflow({ nodes, nodeTypes, staticData, mode: 'manual' });

		expect(production.data.Count?.items[0]?.json).toEqual({ count: 42 });
		expect(production.staticData).toEqual({ 'node:Count': { count: 42 } });
		expect(manual.data.Count?.items[0]?.json).toEqual({ count: 42 });
		expect(manual.staticData).toEqual(staticData);
	});

	test('follows paired items back through the workflow', async () => {
		const { nodeTypes } = double(
			async function () {
				const items = this.getInputData();
				return [
					items
						.map((_, item) => ({
							json: { seen: this.getNodeParameter('value', item) as string },
							pairedItem: { item },
						}))
						.reverse(),
				];
			},
			[text('value')],
		);
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'First', type: TYPE, parameters: { value: '={{ $json.id }}' } },
				{ name: 'Second', type: TYPE, parameters: { value: "={{ $('Start').item.json.id }}" } },
				{ name: 'End', type: NO_OP_TYPE },
			],
			nodeTypes,
			startItems: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
		});

		expect(run.data.First?.items.map(({ json }) => json.seen)).toEqual(['c', 'b', 'a']);
		expect(run.data.Second?.items.map(({ json }) => json.seen)).toEqual(['a', 'b', 'c']);
		expect(run.data.End?.items).toHaveLength(3);
	});

	test('does not run what comes after a failed node', async () => {
		const { nodeTypes } = double(async function () {
			throw new NodeOperationError(this.getNode(), 'No such luck', { itemIndex: 0 });
		});
		const run = await runWorkflow({
			nodes: [...nodes, { name: 'After', type: NO_OP_TYPE }],
			nodeTypes,
		});

		expect(run.status).toBe('error');
		expect(run.data.Count?.error?.message).toBe('No such luck');
		expect(run.data.After).toBeUndefined();
	});
});

const TRIGGER = 'test.trigger';

const triggerSources: NodeSources = {
	nodes: {
		[TRIGGER]: () => {
			// eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded per process
			const loaded = require('./fixtures/StatefulTrigger') as {
				StatefulTrigger: typeof StatefulTrigger;
			};
			return new loaded.StatefulTrigger();
		},
	},
	credentials: {},
};

function triggerOptions() {
	return { type: TRIGGER, name: 'Trigger', process: NodeProcess.fresh(triggerSources) };
}

describe('a published trigger', () => {
	test('registers once, and unregisters', async () => {
		const trigger = await activateTrigger(triggerOptions());
		expect(trigger.hooks).toEqual([
			{ method: 'checkExists', result: false },
			{ method: 'create', result: true },
		]);
		expect(trigger.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/webhook\/[0-9a-f-]+\/notices$/);
		expect(trigger.staticData).toEqual({ global: { url: trigger.url } });

		await trigger.activate();
		expect(trigger.hooks.slice(2)).toEqual([{ method: 'checkExists', result: true }]);

		await trigger.deactivate();
		expect(trigger.staticData).toEqual({ global: {} });
	});

	test('is not published where create() throws', async () => {
		const published = serveWebhook({ ...triggerOptions(), parameters: { refuse: true } });

		await expect(published).rejects.toThrow('The service refused');
	});

	test('answers for itself, starts a run and keeps its static data', async () => {
		const trigger = await serveWebhook({
			...triggerOptions(),
			parameters: { label: '={{ $json.headers["x-label"] }}' },
			next: [{ name: 'After', type: NO_OP_TYPE }],
		});
		const answer = await trigger.post({ hash: 'a' }, { 'x-label': 'from the request' });
		await trigger.post({ hash: 'b' });
		const runs = await trigger.settled();

		expect(answer).toMatchObject({ status: 202, json: { received: true } });
		expect(trigger.executions.map(([item]) => item?.json)).toMatchObject([
			{ inMemory: 1, stored: 1, label: 'from the request', mode: 'webhook' },
			{ inMemory: 2, stored: 2 },
		]);
		expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
		expect(runs[0]?.data.After?.items[0]?.json).toMatchObject({ stored: 1 });
		expect(trigger.staticData).toMatchObject({ 'node:Trigger': { count: 2 } });
		expect(trigger.thrown).toEqual([]);
	});

	test('a restart loses the memory and keeps what is stored', async () => {
		const trigger = await serveWebhook(triggerOptions());
		await trigger.post({});
		await trigger.restart();
		await trigger.post({});

		expect(trigger.executions.map(([item]) => item?.json)).toMatchObject([
			{ inMemory: 1, stored: 1 },
			{ inMemory: 1, stored: 2 },
		]);
		expect(trigger.hooks.map(({ method }) => method)).toEqual([
			'checkExists',
			'create',
			'checkExists',
		]);
	});

	test('several processes share what is stored, not what is in memory', async () => {
		const trigger = await serveWebhook(triggerOptions());
		trigger.addProcess();
		for (let count = 0; count < 4; count += 1) await trigger.post({});

		expect(trigger.executions.map(([item]) => item?.json)).toMatchObject([
			{ inMemory: 1, stored: 1 },
			{ inMemory: 1, stored: 2 },
			{ inMemory: 2, stored: 3 },
			{ inMemory: 2, stored: 4 },
		]);
	});

	test('errors of a reloaded node are still known to the engine', async () => {
		const trigger = await serveWebhook(triggerOptions());
		await trigger.post({ do: 'throw' });

		expect(trigger.thrown[0]).toBeInstanceOf(NodeOperationError);
	});

	test('answers in its place as n8n does', async () => {
		const trigger = await serveWebhook(triggerOptions());

		expect(await trigger.post({ do: 'ignore' })).toMatchObject({
			status: 200,
			json: { message: 'Webhook call received' },
		});
		expect(await trigger.post({ do: 'answer' })).toMatchObject({
			status: 200,
			json: { own: 'answer' },
		});
		expect(trigger.staticData).toMatchObject({ 'node:Trigger': { count: 2 } });
		expect(await trigger.post({ do: 'onReceived' })).toMatchObject({
			status: 200,
			text: 'firstEntryJson',
		});
		expect(trigger.staticData).toMatchObject({ 'node:Trigger': { count: 2 } });
		expect(await trigger.post({ do: 'throw' })).toMatchObject({ status: 500 });
		expect(trigger.executions).toHaveLength(1);
		expect(trigger.thrown.map(({ message }) => message)).toEqual(['Broken']);
	});

	test.each([
		['an object', '{"a":1}', 'application/json; charset=utf-8', 'object'],
		['null', 'null', 'application/json', 'object'],
		['a string of JSON', '"text"', 'application/json', 'string'],
		['a plain text', 'text', 'text/plain', 'string'],
		['a form', 'a=1', 'application/x-www-form-urlencoded', 'object'],
		['no body', undefined, 'application/json', 'undefined'],
		['no content type', '{"a":1}', undefined, 'undefined'],
		['bytes', '{"a":1}', 'application/octet-stream', 'undefined'],
	])('reads %s as n8n does', async (_, body, type, kind) => {
		const trigger = await serveWebhook(triggerOptions());
		await trigger.send({
			...(body === undefined ? {} : { body }),
			...(type === undefined ? {} : { headers: { 'content-type': type } }),
		});

		expect(trigger.executions[0]?.[0]?.json.kind).toBe(kind);
	});

	test('never sees malformed JSON, other methods, or requests after its end', async () => {
		const trigger = await serveWebhook(triggerOptions());
		const headers = { 'content-type': 'application/json' };

		expect((await trigger.send({ headers, body: '{"a":' })).status).toBe(422);
		expect((await trigger.send({ method: 'GET' })).status).toBe(404);
		await trigger.deactivate();
		expect((await trigger.post({})).status).toBe(404);
		expect(trigger.executions).toEqual([]);
	});

	test.each([
		{ mode: 'production', taken: 'OPTIONS, POST', ended: [204, 'OPTIONS'] },
		{ mode: 'test', taken: 'OPTIONS, POST', ended: [404, undefined] },
	] as const)('tells another origin which methods it takes ($mode)', async (given) => {
		const { mode, taken, ended } = given;
		const trigger = await serveWebhook({ ...triggerOptions(), mode });
		const ask = async (headers: Record<string, string> = { origin: 'http://other.example' }) => {
			const answer = await trigger.send({ method: 'OPTIONS', headers });
			return [answer.status, answer.headers['access-control-allow-methods']];
		};

		expect(await ask()).toEqual([204, taken]);
		expect(await ask({})).toEqual([204, undefined]);
		trigger.stopListening();
		expect(await ask()).toEqual(ended);
		expect(trigger.executions).toEqual([]);
	});

	test("the editor's test listens on if an event came before create() had returned", async () => {
		const options = { ...triggerOptions(), mode: 'test', parameters: { early: true } } as const;
		const trigger = await serveWebhook(options);

		expect(trigger.executions).toHaveLength(1);
		expect((await trigger.post({})).status).toBe(202);
	});

	test("the editor's test takes one event and stores nothing", async () => {
		const trigger = await serveWebhook({
			...triggerOptions(),
			mode: 'test',
			staticData: { 'node:Trigger': { count: 7 } },
		});
		expect(trigger.url).toContain('/webhook-test/');
		await trigger.post({});

		expect((await trigger.post({})).status).toBe(404);
		expect(trigger.executions.map(([item]) => item?.json)).toMatchObject([
			{ stored: 1, mode: 'manual' },
		]);
		expect(trigger.staticData).toEqual({ 'node:Trigger': { count: 7 } });
	});
});

describe('a parked run', () => {
	/** Waits for `paid`, and shows a time-out unless it came. */
	function waiting(): Record<string, INodeType> {
		const type: INodeType = {
			description: {
				...describeDouble([]),
				webhooks: [
					{
						name: 'default',
						httpMethod: 'POST',
						responseMode: 'onReceived',
						responseData: 'noData',
						path: 'wait',
						restartWebhook: true,
						isFullPath: true,
					},
				],
			},
			async execute() {
				const items = this.getInputData();
				const url = this.evaluateExpression('{{ $execution.resumeUrl }}', 0) as string;
				for (const item of items) item.json = { ...item.json, timedOut: true, url };
				await this.putExecutionToWait(new Date(Date.now() + 3_600_000));
				return [items];
			},
			async webhook() {
				const body = this.getBodyData() as { paid?: boolean; broken?: boolean };
				if (body.broken === true) throw new NodeOperationError(this.getNode(), 'Broken');
				if (body.paid !== true) return { webhookResponse: { parked: true } };
				const parked = this.evaluateExpression('{{ $input.all() }}') as INodeExecutionData[];
				const json = { ...parked[0]?.json, timedOut: false };
				return { workflowData: [[{ json }]] };
			},
		};
		return { [TYPE]: type };
	}

	const nodes = [
		{ name: 'Start', type: START_TYPE },
		{ name: 'Wait', type: TYPE },
		{ name: 'After', type: NO_OP_TYPE },
	];

	function park(mode: 'trigger' | 'manual' = 'trigger') {
		return runWorkflow({ nodes, nodeTypes: waiting(), startItems: [{ hash: 'a' }], mode });
	}

	test('stops at the waiting node and gives it its resume address', async () => {
		const run = await park();

		expect(run.status).toBe('waiting');
		expect(run.waitTill?.getTime()).toBeGreaterThan(Date.now());
		expect(run.data.After).toBeUndefined();
		expect(run.data.Wait?.items[0]?.json.url).toBe(await run.parked?.resumeUrl());
	});

	test('goes on with what its webhook puts out, once', async () => {
		const { parked } = await park();
		const early = await parked?.resumeByWebhook({ paid: false }, 'wait');
		const paid = await parked?.resumeByWebhook({ paid: true }, 'wait');
		const late = await parked?.resumeByWebhook({ paid: true }, 'wait');

		expect(early?.answer).toMatchObject({ status: 200, json: { parked: true } });
		expect(early?.outcome).toBeUndefined();
		expect(paid?.answer).toMatchObject({ status: 200, text: '' });
		expect(paid?.outcome?.status).toBe('success');
		expect(paid?.outcome?.data.After?.items.map(({ json }) => json)).toMatchObject([
			{ hash: 'a', timedOut: false },
		]);
		expect(late?.answer.status).toBe(409);
		expect(await parked?.finished).toBe(paid?.outcome);
	});

	test('goes on with the parked items at the time limit', async () => {
		const run = await park('manual');
		const outcome = await run.parked?.resumeAtTimeLimit();

		expect(outcome?.status).toBe('success');
		expect(outcome?.data.After?.items[0]?.json).toMatchObject({ hash: 'a', timedOut: true });
	});

	test('a throw in its webhook fails the run, and the next node still runs', async () => {
		const { parked } = await park();
		const broken = await parked?.resumeByWebhook({ broken: true }, 'wait');

		expect(broken?.answer.status).toBe(500);
		expect(broken?.outcome?.status).toBe('error');
		expect(broken?.outcome?.error?.message).toBe('Broken');
		expect(broken?.outcome?.data.After?.items.map(({ json }) => json)).toEqual([{}]);
	});

	test('refuses a wrong secret and an unknown path', async () => {
		const { parked } = await park();
		const url = new URL((await parked?.resumeUrl('wait')) ?? '');
		url.searchParams.set('signature', 'guessed');

		expect((await sendRequest(url.href)).status).toBe(401);
		expect((await parked?.resumeByWebhook({ paid: true }, 'other'))?.answer.status).toBe(404);
	});

	test('can be canceled while it waits', async () => {
		const running = park();
		const { parked } = await running;
		running.cancel();

		expect((await parked?.finished)?.status).toBe('canceled');
		expect((await parked?.resumeByWebhook({ paid: true }, 'wait'))?.answer.status).toBe(409);
	});
});

describe('methods of the form', () => {
	const withMethods: INodeType = {
		description: {
			...describeDouble([text('site', { default: '/list' })]),
			credentials: [{ name: CREDENTIAL, testedBy: 'coded' }],
		},
		methods: {
			listSearch: {
				async find(filter, paginationToken) {
					const path = this.getCurrentNodeParameter('site') as string;
					const json = (await this.helpers.httpRequestWithAuthentication.call(this, CREDENTIAL, {
						url: `${baseUrl}${path}?q=${filter ?? ''}&page=${paginationToken ?? ''}`,
					})) as IDataObject;
					return { results: [{ name: String(json.url), value: 1 }], paginationToken: '3' };
				},
			},
			credentialTest: {
				async coded(credential) {
					const { token, scheme } = credential.data ?? {};
					return { status: 'OK', message: `${String(scheme)} ${String(token)}` };
				},
			},
		},
	};
	const nodeTypes = { [TYPE]: withMethods };
	const credentialTypes = { [CREDENTIAL]: genericCredential };
	const shared = { credentialType: CREDENTIAL, testedBy: [TYPE], nodeTypes };

	test('a list is searched with the form as it is and the credential', async () => {
		const found = await runListSearch('find', {
			type: TYPE,
			nodeTypes,
			credentialTypes,
			credentials: { [CREDENTIAL]: { token: 'secret' } },
			parameters: { site: '/here' },
			filter: 'course',
			paginationToken: '2',
		});

		expect(found).toEqual({
			results: [{ name: '/here?q=course&page=2', value: 1 }],
			paginationToken: '3',
		});
		expect(received[0]?.headers.authorization).toBe('Bearer secret');
	});

	test('a coded credential test gets the defaults of the form too', async () => {
		expect(await runCredentialTest({ token: 'secret' }, { ...shared, credentialTypes })).toEqual({
			status: 'OK',
			message: 'Bearer secret',
		});
	});

	test.each([
		['/there', { status: 'OK', message: 'Connection successful!' }],
		['/missing', { status: 'Error', message: 'Not here' }],
	])('a declared credential test asks %s', async (url, expected) => {
		const declared: ICredentialType = {
			...genericCredential,
			test: {
				request: { baseURL: baseUrl, url },
				rules: [{ type: 'responseCode', properties: { value: 404, message: 'Not here' } }],
			},
		};
		const types = { [CREDENTIAL]: declared };
		const result = await runCredentialTest({ token: 'x' }, { ...shared, credentialTypes: types });

		expect(result).toEqual(expected);
		expect(received[0]).toMatchObject({ url, headers: { authorization: 'Bearer x' } });
	});
});
