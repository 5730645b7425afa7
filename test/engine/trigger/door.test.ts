import type { IDataObject } from 'n8n-workflow';
import { sendRequest } from '../../helpers/http';
import { useInbox } from '../../helpers/inbox';

type Call = { headers: Record<string, string>; body: string };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = (body: string): Call => ({ headers: FORM, body });
const text = (body: string): Call => ({ headers: { 'content-type': 'text/plain' }, body });
/** Of an object, or of JSON. */
const json = (given: unknown): Call => ({
	headers: { 'content-type': 'application/json' },
	body: typeof given === 'string' ? given : JSON.stringify(given),
});
const encoded = (value: object): string => encodeURIComponent(JSON.stringify(value));

/** A form as a browser or a server sends it. */
const multipart = async (fields: Record<string, string | Blob>) => {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	const { headers, body } = new Request('http://127.0.0.1', { method: 'POST', body: form });
	const text = await new Response(body).text();
	return { headers: { 'content-type': headers.get('content-type') ?? '' }, body: text };
};

describe('Digital Sales Trigger: what platforms send', () => {
	const inbox = useInbox({ resendAfterSeconds: [] });
	let hash: string;
	const warnings = () => inbox.trigger.logs.filter(({ level }) => level === 'warn');

	beforeEach(async () => {
		hash = await inbox.begin({ triggerOn: ['paid'] }, 'paid');
	});

	test.each<[string, (hash: string) => Call | Promise<Call>]>([
		['JSON declared as a form', (hash) => form(`{"hash":"${hash}","url":"a=b&c=%20+"}`)],
		['names with brackets', (hash) => form(`transaction[hash]=${hash}&status=paid`)],
		['a list of one object', (hash) => text(JSON.stringify({ transaction: [{ hash }] }))],
		['encoded brackets', (hash) => form(`data%5Bhash%5D=${hash}`)],
		['nested brackets', (hash) => form(`data[transaction][id]=${hash}&data[status]=paid`)],
		['JSON under transaction of a form', (hash) => form(`transaction=${encoded({ hash })}`)],
		['JSON under payload of a form', (hash) => form(`payload=${encoded({ hash })}`)],
		['a form declared as text', (hash) => text(`hash=${hash}&status=paid`)],
		['JSON declared as text', (hash) => text(JSON.stringify({ data: { hash } }))],
		['JSON without a type', (hash) => ({ headers: {}, body: `\uFEFF{"hash":"${hash}"}` })],
		[
			'JSON of a type that n8n does not read',
			(hash) => ({
				headers: { 'content-type': 'application/vnd.shop; charset=iso-8859-1' },
				body: `{"hash":"${hash}"}`,
			}),
		],
		['a multipart form', async (hash) => await multipart({ transaction_hash: hash })],
		['brackets of a multipart form', async (hash) => await multipart({ 'data[hash]': hash })],
		['a form with a file', async (hash) => await multipart({ hash, bill: new Blob(['%PDF']) })],
		['an envelope under data', (hash) => json({ data: { id: 4711, transaction: { id: hash } } })],
		['JSON as a text under data', (hash) => json({ data: JSON.stringify({ hash }) })],
		[
			'a summary under payload, beside empty data',
			(hash) => json({ data: {}, payload: { transaction_hash: hash } }),
		],
		[
			'a more specific hash than that of the event',
			(hash) => json({ hash: 'evt_1', status: 'ok', data: { transaction_hash: hash } }),
		],
		[
			'the transaction under data, beside a hash of the event',
			(hash) => json({ hash: 'evt_1', data: { hash, payment_status: 'paid' } }),
		],
		[
			'the transaction beside the data of something else',
			(hash) => json({ hash, payment_status: 'paid', data: { transaction: { id: 'cd34' } } }),
		],
		['a blank hash beside another', (hash) => json({ hash: ' ', transaction_hash: ` ${hash}\n` })],
	])('%s is read', async (_name, call) => {
		expect((await inbox.trigger.send(await call(hash))).status).toBe(200);
		expect(inbox.items).toMatchObject([{ hash, payment_status: 'paid', amount_reais: 19.9 }]);
	});

	const KB = 1024;
	const ONLY_BYTES = 'a type that n8n does not read';
	test.each([
		['application/json', 256 * KB, 200, false],
		['application/json', 256 * KB + 1, 413, false],
		[ONLY_BYTES, 256 * KB + 1, 413, false],
		[ONLY_BYTES, 256 * KB + 1, 413, true],
	])(
		'a body as %s of %i bytes is answered %i (streamed: %p)',
		async (type, bytes, expected, isStreamed) => {
			const filler = 'x'.repeat(bytes - JSON.stringify({ hash, filler: '' }).length);
			const content = JSON.stringify({ hash, filler });
			const body = isStreamed ? new Blob([content]).stream() : content;
			const headers = { 'content-type': type };

			const sent = { method: 'POST', duplex: 'half', headers, body } as const;
			expect((await fetch(inbox.trigger.url, sent)).status).toBe(expected);
			expect([inbox.items.length, inbox.reads > 0]).toEqual(
				expected === 200 ? [1, true] : [0, false],
			);
		},
	);

	test('a form with files that is too large is answered 413', async () => {
		const call = await multipart({ hash, bill: new Blob(['x'.repeat(256 * KB)]) });

		expect((await inbox.trigger.send(call)).status).toBe(413);
		expect(inbox.reads).toBe(0);
	});

	describe('a webhook that is certainly not about a sale is answered 200, and starts nothing', () => {
		const NO_SALE = { received: true, started: false, reason: 'not about a transaction' };

		test.each<Call>([
			{ headers: {}, body: '' },
			{ headers: {}, body: 'null' },
			...['{}', '[]', '{"event":" Ping","id":"1a2b3c4d"}', '{"event":"webhook.test","at":1}'].map(
				json,
			),
			...['{"type":"test_webhook","at":1}', '{"event":"cart.abandoned","id":12}'].map(json),
			...['{"type":"verification"}', '{"action":"test","sale":{"code":1}}'].map(json),
			form('event=test&account=123456789'),
			form('event=transaction&status=checkout_abandoned&offer[hash]=ab12'),
			text('hello, world'),
			...['{"event":"verification"', '[', '{}}'].map(text),
			...[
				'{"data_criacao":"2024-01-23T20:32:14.429Z","event":"OPENPIX:CHARGE_COMPLETED"}',
				'{"evento":"teste_webhook","data_criacao":"2026-05-21T13:24:06.791Z"}',
				'{"event":"teste","data":{"id":123}}',
				'{"test":true,"status":"paid","type":"order","transaction_id":"R3NYZR"}',
				'{"type":"abandoned-cart","status":"lost_cart"}',
				'{"type":"verification","sent_at":"21/05/2026 10:00:00"}',
			].map(json),
		])('%j', async (call) => {
			const { status, json } = await inbox.trigger.send(call);

			expect([status, json]).toEqual([200, NO_SALE]);
			expect([inbox.items, inbox.reads, warnings()]).toEqual([[], 0, []]);
		});
	});

	test.each<IDataObject>([
		{ test: true },
		{ event: 'teste' },
		{ type: 'teste_gratis' },
		{ status: 'checkout_abandoned' },
	])('an example sale that the platform does not know is answered 200: %j', async (fields) => {
		expect((await inbox.trigger.post({ hash: 'example1', ...fields })).status).toBe(200);
		expect([inbox.items, inbox.reads]).toEqual([[], 2]);
		expect((await inbox.trigger.post({ hash, ...fields })).status).toBe(200);
		expect(inbox.items).toMatchObject([{ hash }]);
	});

	test.each([
		['hasOwnProperty[changed]', Object.prototype.hasOwnProperty],
		['data[toString][changed]', Object.prototype.toString],
		['list[push][changed]', Array.prototype.push],
		['list[constructor][changed]', Array],
		['__proto__[changed]', Object.prototype],
	])('a field named %s changes nothing outside the webhook', async (name, shared) => {
		await inbox.trigger.post({ list: [], data: {}, [name]: 1 });

		const changed: unknown = Reflect.get(shared, 'changed');
		Reflect.deleteProperty(shared, 'changed');
		expect(changed).toBeUndefined();
	});

	describe('a webhook that may be a sale but has no hash that can be read', () => {
		const SALE = { transaction: 'PP00000000', status: 'Paid', '=HYPERLINK("x")': 1 };

		test('is refused, and n8n’s log names its fields, once a minute', async () => {
			const deep = { transaction: { id: { toString: 1 } }, sale: 123456 };
			for (const body of [SALE, SALE, { sale: { id: 123456 } }, deep]) {
				const { status, json } = await inbox.trigger.post(body);
				expect([status, json]).toEqual([400, { received: false, reason: 'no transaction hash' }]);
			}

			expect(warnings()).toHaveLength(1);
			expect(warnings()[0]?.text).toContain(
				'A webhook was refused because it does not contain the hash of its transaction. Its fields: transaction, status',
			);
			expect(warnings()[0]?.text).not.toContain('HYPERLINK');
			expect(inbox.reads).toBe(0);
		});

		test.each([
			'{"id":"ab12cd34","status":"paid"}',
			'{"transaction":{"id":4711}}',
			'{"transaction":"ab12cd34"}',
			'{"transaction":[{"hash":"ab12cd34"},{}]}',
			'{"data":{"data":{"hash":"ab12cd34"}}}',
			'{"hash":4.5}',
			'{"hash":1e21}',
			'{"hash":" .. "}',
			`{"hash":"${'a'.repeat(201)}"}`,
			'{"sale":{"code":"abcdefgh"}}',
			'{"data":{"object":{"sale":{"order":{"hash":"abcdefgh"}}}}}',
			'<venda>abcdefgh</venda>',
			encodeURIComponent('{"hash":"abcdefgh","status":"paid"}'),
			'{"hash":"abcdefgh","status":"paid"',
		])('%s is refused', async (body) => {
			for (const type of ['text/plain', FORM['content-type'], 'application/vnd.api+json']) {
				const { status } = await inbox.trigger.send({ headers: { 'content-type': type }, body });
				expect(status).toBe(400);
			}
			expect(warnings()).toHaveLength(1);
		});
	});

	test.each([
		['GET', 'production', 'listens here for webhooks, which are sent by POST'],
		['GET', 'test', 'listens here for webhooks, which are sent by POST'],
		['HEAD', 'production', ''],
		['HEAD', 'test', ''],
	] as const)('a probe by %s of the %s URL is answered 200: %p', async (method, mode, told) => {
		await inbox.publish({ triggerOn: ['paid'] }, { mode });

		const { status, text } = await sendRequest(`${inbox.trigger.url}?hash=${hash}`, { method });

		expect([status, text]).toEqual([
			200,
			told && JSON.stringify({ received: true, started: false, reason: told }),
		]);
		expect([inbox.items, inbox.reads]).toEqual([[], 0]);
		expect(await inbox.post(hash, 'paid')).toBe(200);
		expect(inbox.items).toHaveLength(1);
	});

	test.each([
		['test', /^Only this machine or its network can reach 127\.0\.0\.1/],
		['production', /^$/],
	] as const)('a %s run says if only its own network can reach it: %p', async (mode, told) => {
		await inbox.publish({ triggerOn: ['paid'] }, { mode });
		await inbox.post(hash, 'paid');
		const [outcome] = await inbox.trigger.settled();

		expect(outcome?.hints.map(({ message }) => message).join()).toMatch(told);
	});

	test.each(['production', 'test'] as const)(
		'the answer to a webhook that the form excludes has no data of the transaction (%s)',
		async (mode) => {
			const hash = await inbox.begin({ triggerOn: ['paid'] }, 'waiting_payment', { mode });

			const { status, json } = await inbox.trigger.post({ hash, status: 'waiting_payment' });
			const reason = 'excluded by Trigger On or the filters';
			expect([status, json]).toEqual([200, { received: true, started: false, reason }]);
			expect(inbox.items).toEqual([]);
		},
	);

	test('no token is in what n8n keeps or logs', async () => {
		await inbox.publish({ triggerOn: ['any'], simplify: false });
		inbox.account.fault('read', { kind: 'echoRequest' }, 'always');
		await inbox.post(hash);

		const { logs, emitted } = inbox.trigger;
		expect(logs).not.toEqual([]);
		expect(JSON.stringify([logs, emitted])).not.toContain(inbox.account.sandbox.apiToken);
	});
});
