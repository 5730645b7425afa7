import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';
import { create } from '../../product/unit/sandbox/support';
import { meet, run, startContrary } from './support';

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
		const hash = await create(sandbox, { customer });

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
