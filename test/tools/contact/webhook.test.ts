import { gzipSync } from 'node:zlib';
import { NOTICE_SHAPES, type DeliveryReport } from '../../sandbox';
import { useTimeLapse } from '../../support/timeLapse';
import { useSandbox } from '../../product/unit/sandbox/support';
import { meet, run } from './support';

useTimeLapse();

const listening = (): string[] => ['--listen', '0'];

describe('a service as documented', () => {
	const held = { service: useSandbox({ qrImage: 'absent' }) };

	test.each(NOTICE_SHAPES)('has the known shape of a webhook: %s', async (shape) => {
		const { sandbox } = held.service;
		let delivery: Promise<DeliveryReport> | undefined;

		const { exit, text, confirmed, untold } = await run(
			sandbox.baseUrl,
			['--charge', '--listen', '0'],
			{
				onListening: (port) => {
					const [charged] = sandbox.transactions;
					const url = `http://127.0.0.1:${port}/hook`;
					delivery = sandbox.notify(charged?.hash ?? '', { shape, url });
				},
			},
		);

		expect(exit).toBe(0);
		expect(Object.keys(confirmed)).toContain('notice');
		// An envelope has a token, and nobody shows what it is good for.
		expect(Object.keys(shape === 'envelope' ? untold : confirmed)).toContain('signing');
		expect(text).toContain('## Shape of the webhook');
		expect(text).toContain('"a text: waiting_payment"');
		expect(await delivery).toMatchObject({ outcome: 'delivered', status: 200 });
	});

	test('says so if no webhook comes', async () => {
		const { sandbox } = held.service;
		const { exit, untold } = await run(sandbox.baseUrl, ['--listen', '0'], { listenMs: 20 });
		expect(untold.notice).toContain('no webhook came in time');
		expect(exit).toBe(0);
	});
});

describe('the shape of a webhook holds nothing personal', () => {
	test('if JSON comes under the content type of a form, as PHP sends it by default', async () => {
		const { text, contradicted } = await meet([], listening, (port) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/x-www-form-urlencoded' },
				body: JSON.stringify({
					transaction_hash: 'k3yh4shabc',
					status: 'paid',
					customer: { name: 'Joana Prado' },
				}),
			});
		});
		expect(contradicted.notice).toContain('it is JSON under the content type of a form');
		expect(text).toContain('"transaction_hash": "a text"');
		expect(text).not.toContain('Joana');
		expect(text).not.toContain('k3yh4shabc');
	});

	test('if an object is keyed by hashes or names', async () => {
		const { text } = await meet([], listening, (port) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({
					transactions: { k3yh4shabc: { status: 'paid' } },
					buyers: { 'Joana Prado': 1 },
				}),
			});
		});
		expect(text).not.toContain('k3yh4shabc');
		expect(text).not.toContain('Joana');
	});
});

describe('a webhook that the trigger reads is not called unknown', () => {
	const notice = (hash: string): string => JSON.stringify({ hash, payment_status: 'paid' });

	test('compressed (n8n unpacks it)', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
				body: new Uint8Array(gzipSync(notice(hash))),
			});
		});
		expect(contradicted).toEqual({});
	});

	test('with a byte order mark', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}/`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: `\uFEFF${notice(hash)}`,
			});
		});
		expect(contradicted).toEqual({});
	});

	test('as a form with parts (n8n hands it over under data)', async () => {
		const { contradicted } = await meet([], listening, (port, hash) => {
			const body = new FormData();
			body.set('hash', hash);
			body.set('payment_status', 'paid');
			void fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
		});
		expect(contradicted).toEqual({});
	});
});

describe('a webhook that carries a proof of its sender is not called unsigned', () => {
	test.each([
		['a header with a token', { 'x-webhook-token': 'abc' }, '/', {}],
		['authorization', { authorization: 'Basic abc' }, '/', {}],
		['a signature in the query', {}, '/?signature=0a1b2c', {}],
		['a signature in the body', {}, '/', { signature: '0a1b2c' }],
		['a token in the body', {}, '/', { token: '0a1b2c' }],
	])('%s', async (_what, headers, path, more) => {
		const { confirmed } = await meet([], listening, (port, hash) => {
			void fetch(`http://127.0.0.1:${port}${path}`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: JSON.stringify({ hash, payment_status: 'paid', ...more }),
			});
		});
		expect(confirmed.notice).toBeDefined();
		expect(confirmed.signing).toBeUndefined();
	});
});

test('what a stranger sends to the tunnel is not taken for the webhook', async () => {
	const { contradicted, confirmed } = await meet([], listening, (port, hash) => {
		void (async () => {
			const url = `http://127.0.0.1:${port}/`;
			await fetch(url, { method: 'POST', body: '<?php phpinfo();' });
			await fetch(url, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ hash, payment_status: 'paid' }),
			});
		})();
	});
	expect(contradicted).toEqual({});
	expect(confirmed.notice).toBeDefined();
});
