import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { everyOperation } from '../../support/operations';
import { openAccount, pixParameters, type Account } from './support/account';

const FOLDER = path.join(__dirname, '../../../nodes/DigitalSales/__schema__/v1.0.0');

interface Preview {
	type: string;
	properties: Record<string, { type: string; properties?: Record<string, { type: string }> }>;
}

const preview = (name: string): Preview =>
	JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), 'utf8')) as Preview;
const previews = readdirSync(FOLDER).flatMap((resource) =>
	readdirSync(path.join(FOLDER, resource)).map((file) => `${resource}/${path.parse(file).name}`),
);

describe('What the editor shows of an output before the node has run', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

	const row = async (
		parameters: INodeParameters,
		staticData?: IDataObject,
	): Promise<IDataObject | undefined> => (await account.run(parameters, { staticData })).json[0];
	const transactionHash = async (): Promise<string> => {
		const [first] = (await account.run(pixParameters(account.sandbox))).json;
		return String(first?.hash);
	};

	const runs: Record<string, () => Promise<IDataObject | undefined>> = {
		'product/getAll': async () => await row({ resource: 'product', operation: 'getAll' }),
		'offer/create': async () =>
			await row({
				resource: 'offer',
				operation: 'create',
				productHash: account.sandbox.products[5]?.hash ?? '',
				title: 'Oferta',
				price: '100',
				additionalFields: { interval: 'monthly' },
			}),
		'transaction/create': async () => await row(pixParameters(account.sandbox, { simplify: true })),
		'transaction/get': async () =>
			await row({
				resource: 'transaction',
				operation: 'get',
				transactionHash: await transactionHash(),
			}),
		'transaction/waitForPayment': async () => {
			const hash = await transactionHash();
			await account.sandbox.setStatus(hash, 'paid');
			return await row({
				resource: 'transaction',
				operation: 'waitForPayment',
				transactionHash: hash,
			});
		},
		'notification/getAddress': async () =>
			await row(
				{ resource: 'notification', operation: 'getAddress' },
				{
					global: {
						digitalSalesTriggers: { node: 'https://n8n.example.com/webhook/t/digital-sales' },
					},
				},
			),
	};

	test('is there for every operation', () => {
		const operations = everyOperation().map(({ resource, value }) => `${resource}/${value}`);
		const without = operations.filter((name) => !previews.includes(name));

		expect(without.map((name) => `add nodes/DigitalSales/__schema__/v1.0.0/${name}.json`)).toEqual(
			[],
		);
		expect(previews.filter((name) => !operations.includes(name))).toEqual([]);
	});

	test.each(previews)('is what %s gives', async (name) => {
		const run = runs[name];
		if (!run) throw new Error(`Add a run of ${name} to "runs" in this file`);
		const json = (await run()) ?? {};
		const { type, properties: all } = preview(name);
		const { error: _error, ...properties } = all;

		expect(type).toBe('object');
		expect(Object.keys(json).sort()).toEqual(Object.keys(properties).sort());
		expect(Object.keys(properties).length).toBeLessThanOrEqual(10);
		for (const [field, value] of Object.entries(json)) {
			const kind = typeof value === 'number' ? 'integer' : typeof value;
			expect([field, value === null ? 'null' : kind]).toEqual([
				field,
				value === null ? 'null' : properties[field]?.type,
			]);
		}
	});

	test.each(previews)('says of %s what a failed item looks like', (name) => {
		const { error } = preview(name).properties;

		expect(error?.type).toBe('object');
		expect(Object.fromEntries(Object.entries(error?.properties ?? {}).map(typeOf))).toEqual({
			message: 'string',
			advice: 'string',
			status: 'integer',
			outcome: 'string',
			messages: 'array',
			fields: 'object',
			about: 'string',
		});
	});
});

function typeOf([field, { type }]: [string, { type: string }]): [string, string] {
	return [field, type];
}
