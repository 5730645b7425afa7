import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { NOTICE_SHAPES, type DeliveryReport } from '../../sandbox';
import { chargeAt } from '../../support/charge';
import { useTimeLapse } from '../../support/timeLapse';
import { meet, run, startContrary, useSandbox } from './support';

useTimeLapse();

const listening = (): string[] => ['--listen', '0'];

test('the report holds nothing personal, and no token', async () => {
	const customer = {
		name: 'Joana Prado',
		email: 'joana.prado@correio.test',
		phone_number: '11987650001',
		document: '52998224725',
	};
	// Without the long number that is removed from any text.
	const [apiToken, bodyApiToken] = ['test-token-of-header', 'test-token-of-body'];
	const planted = {
		'other@person.test': 1,
		[customer.email]: 1,
		[customer.name]: 1,
		'529.982.247-25': 1,
		[apiToken]: 1,
	};
	const service = await startContrary([
		{
			options: { apiToken, bodyApiToken },
			answer: (given, { method, path: route }) => {
				if (route.startsWith('/transactions/') && isJsonObject(given.json)) {
					Object.assign(given.json, planted, { payment_status: customer.name });
				}
				if (method === 'POST') {
					given.status = 422;
					given.json = {
						success: false,
						message: `${customer.name} required ${apiToken}`,
						errors: { [customer.email]: ['is required'], [`x ${bodyApiToken}`]: ['is required'] },
					};
				}
			},
		},
	]);
	const folder = mkdtempSync(path.join(tmpdir(), 'contact-'));
	const file = path.join(folder, 'report.md');
	try {
		const { sandbox } = service;
		const hash = await chargeAt(sandbox, undefined, { customer });

		const { exit, text } = await run(
			service.baseUrl,
			['--hash', hash, '--charge', '--listen', '0', '--report', file],
			{
				environment: {
					DIGITAL_SALES_TOKEN: apiToken,
					DIGITAL_SALES_SECOND_TOKEN: bodyApiToken,
					DIGITAL_SALES_CUSTOMER: JSON.stringify(customer),
				},
				onListening: (port) => {
					void fetch(`http://127.0.0.1:${port}/`, {
						method: 'POST',
						headers: { 'content-type': `application/json; of=${apiToken}` },
						body: JSON.stringify({ ...planted, hash, status: 'paid', customer, session: apiToken }),
					});
				},
			},
		);

		expect(exit).toBe(7);
		const written = readFileSync(file, 'utf8');
		expect(text.trim().endsWith(written.trim())).toBe(true);
		expect(text).toContain('Shape of the webhook');
		for (const secret of [
			...Object.values(customer),
			...[apiToken, bodyApiToken, hash, '529.982.247-25', 'other@person.test', 'Joana', 'Prado'],
			...sandbox.products.slice(0, 30).flatMap((product) => [product.hash, product.title]),
		]) {
			expect(text).not.toContain(secret);
		}
	} finally {
		rmSync(folder, { recursive: true });
		await service.close();
	}
});

test('a product that is called like a word of the report does not blacken it', async () => {
	const { text } = await meet([
		{
			answer: ({ json }, { path }) => {
				if (path !== '/products' || !isJsonObject(json) || !Array.isArray(json.data)) return;
				for (const [index, title] of ['Status', 'Products', 'Confirmed'].entries()) {
					Object.assign(Object(json.data[index]), { title });
				}
			},
		},
	]);
	expect(text).toContain('GET /products');
	expect(text).toContain('## Confirmed');
});

describe('a webhook of a service as documented', () => {
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
