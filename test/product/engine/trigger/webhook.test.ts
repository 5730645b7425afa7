import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { type Fault, NOTICE_SHAPES } from '../../../sandbox';
import { useInbox } from '../support/inbox';

describe('Digital Sales Trigger: notices', () => {
	const inbox = useInbox();
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.chargeHere();
	});

	const setStatus = async (status: string): Promise<void> =>
		await inbox.account.sandbox.setStatus(hash, status);

	test.each(NOTICE_SHAPES)(
		'emits the transaction of a notice of shape %s, which notice/parse.ts reads',
		async (shape) => {
			await inbox.publish({});
			await setStatus('paid');

			const report = await inbox.account.sandbox.notify(hash, { shape, url: inbox.trigger.url });

			expect(report.status).toBe(200);
			expect(inbox.items).toMatchObject([
				{ hash, payment_status: 'paid', amount_reais: 39.8, customer_email: 'maria@example.com' },
			]);
			expect(Object.keys(inbox.items[0] ?? {}).sort()).toEqual([
				...['amount_reais', 'customer_email', 'customer_name', 'customer_phone', 'hash'],
				...['payment_status', 'pix_qr_code', 'product_hash', 'product_title', 'updated_at'],
			]);
		},
	);

	test('emits the chosen fields, once for each status', async () => {
		await inbox.publish({ options: { fields: ['utm_source'] } });
		await setStatus('paid');
		await inbox.account.sandbox.notify(hash, { url: inbox.trigger.url });
		await inbox.account.sandbox.notify(hash, { url: inbox.trigger.url });

		expect(inbox.items).toEqual([{ hash, payment_status: 'paid', utm_source: null }]);
	});

	test.each([
		['an empty body', { body: '' }],
		['no content type and no hash', { body: '{"id":17}', headers: {} }],
		['a text', { body: 'paid', headers: { 'content-type': 'text/plain' } }],
		[
			'a form without a hash',
			{ body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
		],
		[
			'half a character for a hash',
			{ body: '{"hash": "ab\\ud800"}', headers: { 'content-type': 'application/json' } },
		],
		[
			'a form with files, whatever it holds',
			{
				body: '--x\r\nContent-Disposition: form-data; name="hash"\r\n\r\nab12\r\n--x--\r\n',
				headers: { 'content-type': 'multipart/form-data; boundary=x' },
			},
		],
	])('answers %s with 400 and reads nothing', async (_name, call) => {
		await inbox.publish();
		const before = inbox.account.sandbox.requests.length;

		const answer = await inbox.trigger.send(call);

		expect(answer.status).toBe(400);
		expect(inbox.items).toEqual([]);
		expect(inbox.account.sandbox.requests).toHaveLength(before);
	});

	describe('of more than 256 KiB', () => {
		const LIMIT = 256 * 1024;
		const ofSize = (bytes: number): string => {
			const empty = JSON.stringify({ hash, filler: '' });
			return JSON.stringify({ hash, filler: 'x'.repeat(bytes - empty.length) });
		};
		const json = { 'content-type': 'application/json' };

		test.each<[string, () => Promise<{ status: number }>]>([
			[
				'by one byte',
				async () => await inbox.trigger.send({ body: ofSize(LIMIT + 1), headers: json }),
			],
			[
				'in a form with files, whose length is only stated',
				async () => {
					const body = new FormData();
					body.set('file', new Blob([ofSize(LIMIT)]));
					return await fetch(inbox.trigger.url, { method: 'POST', body });
				},
			],
		])('are turned away: those %s', async (_name, send) => {
			await inbox.publish();
			const before = inbox.account.sandbox.requests.length;

			expect((await send()).status).toBe(413);
			expect(inbox.items).toEqual([]);
			expect(inbox.account.sandbox.requests).toHaveLength(before);
		});

		test('are the limit: one that just fits is taken', async () => {
			await inbox.publish();

			const { status } = await inbox.trigger.send({ body: ofSize(LIMIT), headers: json });

			expect(status).toBe(200);
			expect(inbox.items).toHaveLength(1);
		});
	});

	describe('of a content type that n8n does not read', () => {
		test.each([
			['none', {}],
			['another JSON', { 'content-type': 'application/vnd.shop+json; charset=utf-8' }],
			['with a charset of its own', { 'content-type': 'application/vnd.shop; charset=iso-8859-1' }],
			['with a charset that nobody knows', { 'content-type': 'x/y; charset=shop' }],
		])('JSON is read all the same: %s', async (_name, headers) => {
			await inbox.publish();

			const { status } = await inbox.trigger.send({ body: `\uFEFF{"hash":"${hash}"}`, headers });

			expect(status).toBe(200);
			expect(inbox.items).toHaveLength(1);
		});

		test.each([
			['bytes that are no JSON', new Uint8Array([0xff, 0xfe, 0x00]), 400],
			['more than 256 KiB', `{"hash":"x","filler":"${'x'.repeat(256 * 1024)}"}`, 413],
			['more than n8n reads', 'x'.repeat(17 * 1024 * 1024), 413],
		])('%s', async (_name, content, expected) => {
			await inbox.publish();
			const before = inbox.account.sandbox.requests.length;
			const sent = { method: 'POST', duplex: 'half', headers: { 'content-type': 'x/y' } } as const;

			const stated = await fetch(inbox.trigger.url, { ...sent, body: content });
			const body = new Blob([content]).stream();
			const streamed = await fetch(inbox.trigger.url, { ...sent, body });

			expect([stated.status, streamed.status]).toEqual([expected, expected]);
			expect(inbox.account.sandbox.requests).toHaveLength(before);
		});
	});

	test('accepts a form, and a text that holds JSON', async () => {
		await inbox.publish();
		await inbox.trigger.send({
			body: `transaction_hash=${hash}&status=waiting_payment`,
			headers: { 'content-type': 'application/x-www-form-urlencoded' },
		});
		await setStatus('paid');
		// What was read in the same millisecond is not read again.
		await pause(1);
		await inbox.trigger.send({
			body: JSON.stringify({ data: { transaction: { id: hash } } }),
			headers: { 'content-type': 'text/plain' },
		});

		expect(inbox.items).toMatchObject([
			{ payment_status: 'waiting_payment' },
			{ payment_status: 'paid' },
		]);
	});

	test.each<[string, Fault]>([
		['is down', { kind: 'status', status: 503 }],
		['returns a web page with 404', { kind: 'html', status: 404 }],
		['returns another transaction', { kind: 'patchBody', set: { hash: 'another1' } }],
		['drops the connection', { kind: 'resetBeforeProcessing' }],
	])(
		'answers 503 with Retry-After and starts nothing when the service %s',
		async (_name, fault) => {
			await inbox.publish();
			inbox.account.fault('read', fault, 'always');

			const answer = await inbox.trigger.post({ hash });

			expect(answer.status).toBe(503);
			expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
			expect(inbox.items).toEqual([]);

			inbox.account.sandbox.clearFaults();
			expect((await inbox.trigger.post({ hash })).status).toBe(200);
			expect(inbox.items).toHaveLength(1);
		},
	);

	describe('Once per hash and status', () => {
		test('a notice of what was emitted long ago is a duplicate, without asking the service', async () => {
			await inbox.publish();
			await inbox.trigger.post({ hash, status: 'waiting_payment' });
			await clock.sleep(60_000);
			const before = inbox.account.sandbox.requests.length;

			const repeated = await inbox.trigger.post({ hash, status: 'waiting_payment' });

			expect(repeated).toMatchObject({ status: 200, json: { reason: 'already known' } });
			expect(inbox.account.sandbox.requests).toHaveLength(before);
		});

		test('each trigger emits a transaction, whatever others have emitted', async () => {
			await inbox.publish();
			await inbox.trigger.post({ hash });
			expect(inbox.items).toHaveLength(1);
			inbox.trigger.stopListening();

			await inbox.publish();
			await inbox.trigger.post({ hash });

			expect(inbox.items).toHaveLength(1);
		});

		test('a transaction without a status is also emitted once', async () => {
			await inbox.publish();
			inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] }, 'always');

			const answers = [await inbox.trigger.post({ hash }), await inbox.trigger.post({ hash })];

			expect(answers.map(({ json }) => json)).toEqual([
				undefined,
				{ received: true, started: false, reason: 'already known' },
			]);
			expect(inbox.items).toMatchObject([{ hash, payment_status: null }]);
		});
	});

	describe('Filters', () => {
		test.each([
			[['paid'], 'authorized', 0],
			[['waiting'], 'authorized', 1],
			[['failed'], 'cancelled', 1],
			[['any'], 'never_heard_of', 1],
		])('Trigger On %j for the status %s', async (triggerOn, status, expected) => {
			await inbox.publish({ triggerOn });
			await setStatus(status);

			const answer = await inbox.trigger.post({ hash });

			expect(answer.status).toBe(200);
			expect(inbox.items).toHaveLength(expected);
		});

		test('tell a stranger nothing about the transaction', async () => {
			await inbox.publish({ triggerOn: ['paid'] });

			const { json } = await inbox.trigger.post({ hash });

			expect(json).toEqual({
				received: true,
				started: false,
				reason: 'excluded by Trigger On or the filters',
			});
		});

		test('tell the person who tests in the editor why nothing starts', async () => {
			const reason =
				'The payment method of the transaction is pix, which Filters > Payment Methods does not let in.';
			const filters = { paymentMethods: ['credit_card', 'boleto'] };
			await inbox.publish({ triggerOn: ['any'], filters }, { mode: 'test' });

			const { status, json, text } = await inbox.trigger.post({ hash });

			expect(status).toBe(200);
			expect(json).toMatchObject({
				received: true,
				started: false,
				reason: expect.stringContaining(reason) as string,
			});
			expect(text).toContain('still listening');
			expect(inbox.items).toEqual([]);
		});
	});

	describe('If an expression in the form returns nonsense', () => {
		/** The status of the answer to a notice, and the items that it started. */
		const noticed = async (parameters: INodeParameters) => {
			await inbox.publish(parameters);
			const { status } = await inbox.trigger.post({ hash });
			return { status, items: inbox.items };
		};

		test('instead of all filters, n8n itself applies none', async () => {
			const { items } = await noticed({ triggerOn: ['any'], filters: 'pix' });

			expect(items).toMatchObject([{ hash }]);
		});

		test('lists may be strings, with blanks and empty entries', async () => {
			const { items } = await noticed({ triggerOn: 'paid, , waiting ' });

			expect(items).toMatchObject([{ payment_status: 'waiting_payment' }]);
		});

		test('an empty entry is not a status', async () => {
			inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] });

			expect(await noticed({ triggerOn: ['other'], otherStatuses: 'frozen,' })).toEqual({
				status: 200,
				items: [],
			});
		});

		test('Other Statuses is ignored if Trigger On does not include Other', async () => {
			await setStatus('frozen');

			expect(await noticed({ triggerOn: ['paid'], otherStatuses: 'frozen' })).toEqual({
				status: 200,
				items: [],
			});
		});
	});

	test('shows no token in what n8n keeps or logs', async () => {
		await inbox.publish({ triggerOn: ['any'], simplify: false });
		inbox.account.fault('read', { kind: 'echoRequest' }, 'always');
		await inbox.trigger.post({ hash });

		const kept = JSON.stringify([
			inbox.trigger.logs,
			inbox.trigger.executions,
			inbox.trigger.staticData,
		]);
		expect(kept).not.toContain(inbox.account.sandbox.apiToken);
	});
});
