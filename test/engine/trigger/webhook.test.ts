import { type Fault, NOTICE_SHAPES } from '../../sandbox';
import { useInbox } from '../../helpers/inbox';
import { sendAsPlatform } from '../../helpers/platform';

describe('Digital Sales Trigger: webhooks', () => {
	const inbox = useInbox();
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.chargeHere();
	});

	const setStatus = async (status: string): Promise<void> =>
		await inbox.account.sandbox.setStatus(hash, status);

	test.each(NOTICE_SHAPES)('of shape %s emit the transaction', async (shape) => {
		await inbox.publish({});
		await setStatus('paid');

		const report = await inbox.account.sandbox.notify(hash, { shape, url: inbox.trigger.url });

		expect(report.status).toBe(200);
		expect(inbox.items).toMatchObject([
			{ hash, payment_status: 'paid', amount_reais: 39.8, customer_email: 'maria@example.com' },
		]);
		expect(Object.keys(inbox.items[0] ?? {}).sort()).toEqual([
			...['amount_reais', 'customer_email', 'customer_name', 'customer_phone', 'hash'],
			...['payment_status', 'product_hash', 'product_title', 'updated_at'],
		]);
	});

	test('emit the chosen fields, once for each status', async () => {
		await inbox.publish({ options: { fields: ['utm_source'] } });
		await setStatus('paid');
		await inbox.account.sandbox.notify(hash, { url: inbox.trigger.url });
		await inbox.account.sandbox.notify(hash, { url: inbox.trigger.url });

		expect(inbox.items).toEqual([{ hash, payment_status: 'paid', utm_source: null }]);
	});

	describe('that are not JSON or too large cause no read:', () => {
		const LARGE = `{"hash":"x","filler":"${'x'.repeat(256 * 1024)}"}`;

		afterEach(() => {
			expect(inbox.items).toEqual([]);
			expect(inbox.reads).toBe(0);
		});

		test('a form with files is answered 413 for the length that it states', async () => {
			await inbox.publish();

			const body = new FormData();
			body.set('file', new Blob([LARGE]));

			expect((await fetch(inbox.trigger.url, { method: 'POST', body })).status).toBe(413);
		});

		test.each([
			['bytes that are no JSON', new Uint8Array([0xff, 0xfe, 0x00]), 400],
			['more than 256 KiB', LARGE, 413],
			['more than n8n reads', 'x'.repeat(17 * 1024 * 1024), 413],
		])('%s of a content type that n8n does not read', async (_name, content, expected) => {
			await inbox.publish();
			const sent = { method: 'POST', duplex: 'half', headers: { 'content-type': 'x/y' } } as const;

			const stated = await fetch(inbox.trigger.url, { ...sent, body: content });
			const body = new Blob([content]).stream();
			const streamed = await fetch(inbox.trigger.url, { ...sent, body });

			expect([stated.status, streamed.status]).toEqual([expected, expected]);
		});
	});

	test.each([
		[256 * 1024, 200],
		[256 * 1024 + 1, 413],
	])('of %i bytes are answered %i', async (bytes, expected) => {
		await inbox.publish();
		const filler = 'x'.repeat(bytes - JSON.stringify({ hash, filler: '' }).length);

		expect((await inbox.trigger.post({ hash, filler })).status).toBe(expected);
		expect(inbox.items).toHaveLength(expected === 200 ? 1 : 0);
	});

	test.each<Record<string, string>>([
		{},
		{ 'content-type': 'application/vnd.shop; charset=iso-8859-1' },
	])('are read as JSON even if n8n does not read their content type: %j', async (headers) => {
		await inbox.publish();

		const { status } = await inbox.trigger.send({ body: `\uFEFF{"hash":"${hash}"}`, headers });

		expect(status).toBe(200);
		expect(inbox.items).toHaveLength(1);
	});

	test.each<[string, Fault]>([
		['returns a web page with 404', { kind: 'html', status: 404 }],
		['returns another transaction', { kind: 'patchBody', set: { hash: 'another1' } }],
	])(
		'are answered 503 with Retry-After, and start nothing, when the service %s',
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

	describe('start the workflow once per hash and status:', () => {
		test('each trigger emits a transaction, even if another trigger has emitted it', async () => {
			for (let nth = 0; nth < 2; nth++) {
				await inbox.publish();
				await inbox.trigger.post({ hash });
				expect(inbox.items).toHaveLength(1);
			}
		});

		test('a transaction without a status is also emitted once', async () => {
			await inbox.publish();
			inbox.account.fault('read', { kind: 'patchBody', remove: ['payment_status'] }, 'always');

			expect(await sendAsPlatform(inbox.trigger.url, { hash })).toEqual([200]);
			expect((await sendAsPlatform(inbox.trigger.url, { hash })).at(-1)).toBe(200);
			expect(inbox.items).toMatchObject([{ hash, payment_status: null }]);
		});
	});

	test.each([
		['test', 1],
		['production', 0],
	] as const)(
		'a %s run says if only its own network can reach the address: %i',
		async (mode, count) => {
			await inbox.publish({ triggerOn: ['paid'] }, { mode });
			const hash = await inbox.charge();
			await inbox.account.sandbox.setStatus(hash, 'paid');
			await inbox.trigger.post({ hash, payment_status: 'paid' });
			const [outcome] = await inbox.trigger.settled();

			const told = outcome?.hints.map(({ message }) => message) ?? [];
			expect(told).toHaveLength(count);
			expect(told.join()).toMatch(
				count ? /^Only this machine or its network can reach 127\.0\.0\.1/ : /^$/,
			);
		},
	);

	test.each(['production', 'test'] as const)(
		'that the form excludes are answered without data of the transaction (%s)',
		async (mode) => {
			await inbox.publish({ triggerOn: ['paid'] }, { mode });

			const notice = { hash, status: 'waiting_payment' };
			expect(await inbox.trigger.post(notice)).toMatchObject({
				status: 200,
				json: {
					received: true,
					started: false,
					reason: 'excluded by Trigger On or the filters',
				},
			});
			expect(inbox.items).toEqual([]);
		},
	);

	test('show no token in what n8n keeps or logs', async () => {
		await inbox.publish({ triggerOn: ['any'], simplify: false });
		inbox.account.fault('read', { kind: 'echoRequest' }, 'always');
		await inbox.trigger.post({ hash });

		const { logs, emitted } = inbox.trigger;
		expect(JSON.stringify([logs, emitted])).not.toContain(inbox.account.sandbox.apiToken);
	});
});
