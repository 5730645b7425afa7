import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { withoutWaiting } from '../../../support/virtualTime';
import { serveWebhook, type PublishedTrigger } from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

describe('Digital Sales Trigger: notices', () => {
	let account: Account;
	let hash: string;
	let trigger: PublishedTrigger;
	let restoreTime: () => number;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(async () => {
		account.reset();
		restoreTime = withoutWaiting(clock);
		await account.run(pixParameters(account.sandbox));
		hash = account.sandbox.transactions[0]?.hash ?? '';
	});
	afterEach(async () => {
		await trigger.settled();
		trigger.stopListening();
		restoreTime();
		expect(trigger.thrown).toEqual([]);
	});
	afterAll(async () => await account.sandbox.close());

	const publish = async (parameters: INodeParameters = {}): Promise<void> => {
		trigger = await serveWebhook({ credentials: account.credentials, parameters });
	};
	const emitted = (): unknown[] => trigger.executions.map(([item]) => item?.json);
	const setStatus = async (status: string): Promise<void> =>
		await account.sandbox.setStatus(hash, status);

	test.each(['A', 'B', 'C'] as const)('takes a notice of shape %s in, verified', async (shape) => {
		await publish();
		await setStatus('paid');

		const report = await account.sandbox.notify(hash, { shape, url: trigger.url });

		expect(report.status).toBe(200);
		expect(emitted()).toMatchObject([
			{
				hash,
				payment_status: 'paid',
				amount: 3980,
				customer_email: 'maria@example.com',
				verified: true,
			},
		]);
		expect(Object.keys(trigger.executions[0]?.[0]?.json ?? {}).length).toBeLessThanOrEqual(10);
	});

	test('gives the whole transaction without Simplify', async () => {
		await publish({ simplify: false });
		await setStatus('paid');
		await account.sandbox.notify(hash, { url: trigger.url });

		expect(emitted()).toMatchObject([
			{ hash, payment_status: 'paid', verified: true, split_recipients: expect.any(Array) },
		]);
	});

	test('believes the service, not the notice', async () => {
		await publish();

		const forged = await trigger.post({ transaction_hash: hash, status: 'paid', amount: 1 });

		expect(forged.status).toBe(200);
		expect(emitted()).toEqual([]);
	});

	test('answers a notice for an unknown transaction with 404 and starts nothing', async () => {
		await publish({ triggerOn: ['any'] });

		expect((await trigger.post({ hash: 'nosuch1' })).status).toBe(404);
		expect(emitted()).toEqual([]);
	});

	test('does not swallow the next notice after an unknown one', async () => {
		await publish({ triggerOn: ['any'] });
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 404,
			body: {},
		});

		expect((await trigger.post({ hash })).status).toBe(404);
		expect((await trigger.post({ hash })).status).toBe(200);
		expect(emitted()).toHaveLength(1);
	});

	test.each([
		['an empty body', { body: '' }],
		['no content type', { body: '{"hash":"x"}', headers: {} }],
		['a text', { body: 'paid', headers: { 'content-type': 'text/plain' } }],
		['null', { body: 'null', headers: { 'content-type': 'application/json' } }],
		['a list', { body: '[]', headers: { 'content-type': 'application/json' } }],
		['a number for an id', { body: '{"id": 17}', headers: { 'content-type': 'application/json' } }],
		[
			'a numeric id inside',
			{ body: '{"transaction": {"id": "17"}}', headers: { 'content-type': 'application/json' } },
		],
		[
			'a form without a hash',
			{ body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
		],
		[
			'a path for a hash',
			{ body: '{"hash": ".."}', headers: { 'content-type': 'application/json' } },
		],
		[
			'half a character for a hash',
			{ body: '{"hash": "ab\\ud800"}', headers: { 'content-type': 'application/json' } },
		],
		[
			'a hash that is an object',
			{ body: '{"hash": {"a": 1}}', headers: { 'content-type': 'application/json' } },
		],
	])('answers %s with 400 and reads nothing', async (_name, call) => {
		await publish({ triggerOn: ['any'] });
		const before = account.sandbox.requests.length;

		const answer = await trigger.send(call);

		expect(answer.status).toBe(400);
		expect(emitted()).toEqual([]);
		expect(account.sandbox.requests).toHaveLength(before);
	});

	describe('of more than 256 KiB', () => {
		const LIMIT = 256 * 1024;
		const ofSize = (bytes: number): string => {
			const empty = JSON.stringify({ hash, filler: '' });
			return JSON.stringify({ hash, filler: 'x'.repeat(bytes - empty.length) });
		};
		const json = { 'content-type': 'application/json' };

		test.each<[string, () => Promise<{ status: number }>]>([
			['by one byte', async () => await trigger.send({ body: ofSize(LIMIT + 1), headers: json })],
			[
				'that do not state their length',
				async () => {
					const body = new Blob([ofSize(LIMIT + 1)]).stream();
					return await fetch(trigger.url, { method: 'POST', headers: json, body, duplex: 'half' });
				},
			],
			[
				'in a form with files, whose length is only stated',
				async () => {
					const body = new FormData();
					body.set('file', new Blob([ofSize(LIMIT)]));
					return await fetch(trigger.url, { method: 'POST', body });
				},
			],
		])('are turned away: those %s', async (_name, send) => {
			await publish({ triggerOn: ['any'] });
			const before = account.sandbox.requests.length;

			expect((await send()).status).toBe(413);
			expect(emitted()).toEqual([]);
			expect(account.sandbox.requests).toHaveLength(before);
		});

		test('are the limit: one that just fits is taken', async () => {
			await publish({ triggerOn: ['any'] });

			const { status } = await trigger.send({ body: ofSize(LIMIT), headers: json });

			expect(status).toBe(200);
			expect(emitted()).toHaveLength(1);
		});
	});

	test('takes a form and a text that holds JSON', async () => {
		await publish({ triggerOn: ['any'] });
		await trigger.send({
			body: `transaction_hash=${hash}&status=paid`,
			headers: { 'content-type': 'application/x-www-form-urlencoded' },
		});
		await setStatus('paid');
		await trigger.send({
			body: JSON.stringify({ data: { transaction: { id: hash } } }),
			headers: { 'content-type': 'text/plain' },
		});

		expect(emitted()).toMatchObject([
			{ payment_status: 'waiting_payment' },
			{ payment_status: 'paid' },
		]);
	});

	test.each([
		['is down', { kind: 'status', status: 503, times: 'always' } as const],
		['gives a web page', { kind: 'html', times: 'always' } as const],
		['gives a web page under 404', { kind: 'html', status: 404, times: 'always' } as const],
		['refuses the token', { kind: 'status', status: 401, times: 'always' } as const],
		[
			'tells of another transaction',
			{ kind: 'patchBody', set: { hash: 'another1' }, times: 'always' } as const,
		],
		['breaks off', { kind: 'resetBeforeProcessing', times: 'always' } as const],
	])(
		'answers 503 with Retry-After and starts nothing when the service %s',
		async (_name, fault) => {
			await publish({ triggerOn: ['any'] });
			account.sandbox.addFault({ endpoint: 'GET /transactions/{hash}', ...fault });

			const answer = await trigger.post({ hash });

			expect(answer.status).toBe(503);
			expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
			expect(emitted()).toEqual([]);

			account.sandbox.clearFaults();
			expect((await trigger.post({ hash })).status).toBe(200);
			expect(emitted()).toHaveLength(1);
		},
	);

	describe('Once per hash and status', () => {
		test('a repeated notice is answered 200 and starts nothing, also after a restart', async () => {
			await publish({ triggerOn: ['any'] });
			await trigger.post({ hash });
			const repeated = await trigger.post({ hash });
			await trigger.restart();
			const afterRestart = await trigger.post({ hash });

			expect([repeated.status, afterRestart.status]).toEqual([200, 200]);
			expect(emitted()).toHaveLength(1);
		});

		test('a notice of what was emitted long before is known without asking the service', async () => {
			await publish({ triggerOn: ['any'] });
			await trigger.post({ hash, status: 'waiting_payment' });
			await clock.sleep(60_000);
			const before = account.sandbox.requests.length;

			const repeated = await trigger.post({ hash, status: 'waiting_payment' });

			expect(repeated).toMatchObject({ status: 200, json: { reason: 'already known' } });
			expect(account.sandbox.requests).toHaveLength(before);
		});

		test('each trigger tells of a transaction, whatever others have told', async () => {
			await publish({ triggerOn: ['any'] });
			await trigger.post({ hash });
			expect(emitted()).toHaveLength(1);
			trigger.stopListening();

			await publish({ triggerOn: ['any'] });
			await trigger.post({ hash });

			expect(emitted()).toHaveLength(1);
		});

		test('a test in the editor may be repeated', async () => {
			trigger = await serveWebhook({
				credentials: account.credentials,
				parameters: { triggerOn: ['any'] },
				mode: 'test',
			});
			await trigger.post({ hash });
			await trigger.settled();
			await trigger.activate();
			trigger.listen();
			await trigger.post({ hash });

			expect(emitted()).toMatchObject([{ hash }, { hash }]);
		});

		test('a transaction without a status is emitted once, too', async () => {
			await publish({ triggerOn: ['any'] });
			account.sandbox.addFault({
				endpoint: 'GET /transactions/{hash}',
				kind: 'patchBody',
				remove: ['payment_status'],
				times: 'always',
			});

			const answers = [await trigger.post({ hash }), await trigger.post({ hash })];

			expect(answers.map(({ json }) => json)).toEqual([
				undefined,
				{ received: true, started: false, reason: 'already known' },
			]);
			expect(emitted()).toMatchObject([{ hash, payment_status: null, verified: true }]);
		});

		test('a status of any length is known again, and little of it is stored', async () => {
			await publish({ triggerOn: ['any'] });
			await setStatus('x'.repeat(10_000));

			await trigger.post({ hash });
			await trigger.post({ hash });

			expect(emitted()).toHaveLength(1);
			expect(JSON.stringify(trigger.staticData).length).toBeLessThan(1_000);
		});

		test('another status of the same transaction is emitted', async () => {
			await publish({ triggerOn: ['paid', 'reversed'] });
			await setStatus('paid');
			await trigger.post({ hash });
			await setStatus('refunded');
			await trigger.post({ hash });

			expect(emitted()).toMatchObject([{ payment_status: 'paid' }, { payment_status: 'refunded' }]);
		});

		test('twenty notices at the same moment start one execution', async () => {
			await publish({ triggerOn: ['any'] });

			const answers = await Promise.all(
				Array.from({ length: 20 }, async () => await trigger.post({ hash })),
			);

			expect(emitted()).toHaveLength(1);
			expect(answers.every(({ status }) => status === 200 || status === 503)).toBe(true);
		});

		test('a notice that reaches another process later starts nothing', async () => {
			await publish({ triggerOn: ['any'] });
			await trigger.post({ hash });
			trigger.addProcess();
			const answers = [await trigger.post({ hash }), await trigger.post({ hash })];

			expect(answers.map(({ status }) => status)).toEqual([200, 200]);
			expect(emitted()).toHaveLength(1);
		});

		test('what was only claimed does not hide what is verified later', async () => {
			await publish({ triggerOn: ['any'], options: { verify: false } });
			await trigger.post({ hash, status: 'paid' });
			const { staticData } = trigger;
			trigger.stopListening();
			expect(emitted()).toMatchObject([{ verified: false }]);
			await setStatus('paid');

			trigger = await serveWebhook({
				credentials: account.credentials,
				parameters: { triggerOn: ['any'] },
				staticData,
			});
			await trigger.post({ hash, status: 'paid' });

			expect(emitted()).toMatchObject([{ payment_status: 'paid', verified: true }]);
		});

		test('every notice is emitted when the user wants that', async () => {
			await publish({ triggerOn: ['any'], options: { deduplicate: false } });
			await trigger.post({ hash });
			await trigger.post({ hash });

			expect(emitted()).toHaveLength(2);
		});
	});

	describe('Filters', () => {
		test.each([
			[['paid'], 'paid', 1],
			[['paid'], 'authorized', 0],
			[['waiting'], 'authorized', 1],
			[['failed'], 'canceled', 1],
			[['failed'], 'cancelled', 1],
			[['reversed'], 'chargeback', 1],
			[['paid', 'reversed'], 'expired', 0],
			[['any'], 'never_heard_of', 1],
		])('Trigger On %j for the status %s', async (triggerOn, status, expected) => {
			await publish({ triggerOn });
			await setStatus(status);

			const answer = await trigger.post({ hash });

			expect(answer.status).toBe(200);
			expect(emitted()).toHaveLength(expected);
		});

		test('tell a stranger nothing of the transaction', async () => {
			await publish({ triggerOn: ['paid'] });

			const { json } = await trigger.post({ hash });

			expect(json).toEqual({
				received: true,
				started: false,
				reason: 'excluded by Trigger On or the filters',
			});
		});

		test.each([
			[
				{ triggerOn: ['paid', 'reversed'] },
				'The status of the transaction is waiting_payment; Trigger On asks for Paid, Refunded or Charged Back.',
			],
			[
				{ triggerOn: ['paid', 'other'], otherStatuses: 'frozen, thawed' },
				'The status of the transaction is waiting_payment; Trigger On asks for Paid, frozen, thawed.',
			],
			[
				{ triggerOn: ['any'], filters: { paymentMethods: ['credit_card', 'boleto'] } },
				'The payment method of the transaction is pix; Filters > Payment Methods asks for Card, Boleto.',
			],
			[
				{ triggerOn: ['any'], filters: { productHashes: 'other1, other2' } },
				'Filters > Product Hashes asks for other1, other2.',
			],
		])('say to whoever tests it in the editor why nothing starts: %j', async (form, reason) => {
			trigger = await serveWebhook({
				credentials: account.credentials,
				parameters: form,
				mode: 'test',
			});

			const { status, json, text } = await trigger.post({ hash });

			expect(status).toBe(200);
			expect(json).toMatchObject({
				received: true,
				started: false,
				reason: expect.stringContaining(reason) as string,
			});
			expect(text).toContain('still listening');
			expect(emitted()).toEqual([]);
		});

		test('statuses that the user names', async () => {
			await publish({ triggerOn: ['other'], otherStatuses: 'frozen, thawed' });
			await setStatus('thawed');
			await trigger.post({ hash });

			expect(emitted()).toMatchObject([{ payment_status: 'thawed' }]);
		});

		test.each([
			[['pix'], 1],
			[['credit_card', 'boleto'], 0],
		])('payment methods %j', async (paymentMethods, expected) => {
			await publish({ triggerOn: ['any'], filters: { paymentMethods } });
			await trigger.post({ hash });

			expect(emitted()).toHaveLength(expected);
		});

		test('products', async () => {
			const product = account.sandbox.transactions[0]?.product.hash ?? '';
			await publish({ triggerOn: ['any'], filters: { productHashes: 'other1' } });
			await trigger.post({ hash });
			trigger.stopListening();
			expect(emitted()).toEqual([]);

			await publish({ triggerOn: ['any'], filters: { productHashes: `other1, ${product}` } });
			await trigger.post({ hash });
			expect(emitted()).toHaveLength(1);
		});
	});

	describe('Where an expression in the form gives nonsense', () => {
		/** What the answer to a notice says, and the items that come of it. */
		const noticed = async (parameters: INodeParameters, mode?: 'test') => {
			trigger = await serveWebhook({
				credentials: account.credentials,
				parameters,
				...(mode && { mode }),
			});
			const { status } = await trigger.post({ hash, status: 'paid' });
			return { status, items: emitted() };
		};

		test('in place of all filters, n8n itself leaves none', async () => {
			const { items } = await noticed({ triggerOn: ['any'], filters: 'pix' });

			expect(items).toMatchObject([{ hash }]);
		});

		test('in Simplify, the item is the simple one', async () => {
			const { items } = await noticed({ triggerOn: ['any'], simplify: 'perhaps' });

			expect(items).toMatchObject([{ hash, customer_email: 'maria@example.com' }]);
		});

		const NONSENSE = { triggerOn: ['any'], options: { verify: 'perhaps' } };

		test('in the options, the address is closed to whoever does not have its secret', async () => {
			expect(await noticed(NONSENSE)).toEqual({ status: 401, items: [] });
		});

		test('in the options, the service is asked all the same', async () => {
			const { items } = await noticed(NONSENSE, 'test');

			expect(items).toMatchObject([{ payment_status: 'waiting_payment', verified: true }]);
			expect(items[0]).not.toHaveProperty('notification');
		});

		test('lists may be texts, with blanks and empty places', async () => {
			const { items } = await noticed({ triggerOn: 'paid, , waiting ' });

			expect(items).toMatchObject([{ payment_status: 'waiting_payment' }]);
		});

		test('an empty place is no status', async () => {
			account.sandbox.addFault({
				endpoint: 'GET /transactions/{hash}',
				kind: 'patchBody',
				remove: ['payment_status'],
			});

			expect(await noticed({ triggerOn: ['other'], otherStatuses: 'frozen,' })).toEqual({
				status: 200,
				items: [],
			});
		});

		test('Other Statuses counts for nothing where Trigger On does not have Other', async () => {
			await setStatus('frozen');

			expect(await noticed({ triggerOn: ['paid'], otherStatuses: 'frozen' })).toEqual({
				status: 200,
				items: [],
			});
		});
	});

	test('takes tokens out of a notice in every field, also where they are escaped', async () => {
		await publish({ triggerOn: ['any'], options: { includeNotification: true } });
		const { apiToken } = account.sandbox;
		const escaped = apiToken.replaceAll('-', '%2D');
		const { bodyApiToken } = account.sandbox;
		await trigger.post({ transaction_hash: hash, note: [escaped, { deep: bodyApiToken }] });

		expect(trigger.executions[0]?.[0]?.json.notification).toEqual({
			transaction_hash: hash,
			note: ['[token removed]', { deep: '[token removed]' }],
		});
	});

	test('shows no token in what n8n keeps or logs', async () => {
		await publish({ triggerOn: ['any'], simplify: false });
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'echoRequest',
			times: 'always',
		});
		await trigger.post({ hash });

		const kept = JSON.stringify([trigger.logs, trigger.executions, trigger.staticData]);
		expect(kept).not.toContain(account.sandbox.apiToken);
	});
});
