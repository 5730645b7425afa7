import type { IDataObject } from 'n8n-workflow';
import { mostAtOnce } from '../../helpers/underWay';
import { useTimeLapse } from '../../helpers/timeLapse';
import { type Account, openAccount, pixParameters } from '../../helpers/account';

describe('Transaction > Get', () => {
	let account: Account;
	let created: IDataObject[];

	useTimeLapse();
	beforeAll(async () => {
		account = await openAccount();
		({ json: created } = await account.run(pixParameters(account.sandbox), {
			items: [{}, {}, {}],
		}));
	});
	afterAll(async () => await account.sandbox.close());

	const parameters = {
		resource: 'transaction',
		operation: 'get',
		transactionHash: '={{ $json.hash }}',
		simplify: false,
	};

	test('reads each transaction in its GET shape, in order and paired', async () => {
		const { json, items } = await account.run(parameters, { items: created });

		expect(json.map(({ hash }) => hash)).toEqual(created.map(({ hash }) => hash));
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
		expect(json[0]).toMatchObject({
			amount: 3980,
			balance: { amount: expect.any(Number) },
			split_recipients: expect.arrayContaining([
				expect.objectContaining({ amount: expect.any(String) }),
			]),
		});
	});

	test('uses the hash of the input item by default, and the error names the field if there is none', async () => {
		const { transactionHash: _default, ...untouched } = parameters;

		const { json } = await account.run(untouched, { items: created });
		const failure = await account.fail(untouched, { items: [{ id: 4711 }] });

		expect(json.map(({ hash }) => hash)).toEqual(created.map(({ hash }) => hash));
		expect(failure.message).toBe('Transaction Hash is empty; fill it in');
	});

	test('sends at most 64 requests concurrently', async () => {
		account.fault('read', { kind: 'delay', ms: 90 }, 'always');
		const items = Array.from({ length: 66 }, () => created[0] ?? {});
		const before = account.sandbox.requests.length;

		const { json } = await account.run(parameters, { items });
		account.sandbox.clearFaults();

		const requests = account.sandbox.requests.slice(before);
		expect(json).toHaveLength(66);
		expect(requests).toHaveLength(66);
		expect(mostAtOnce(requests)).toBeGreaterThan(32);
		expect(mostAtOnce(requests)).toBeLessThanOrEqual(64);
	});

	test('encodes a hash into one segment of the path', async () => {
		const failure = await account.fail({ ...parameters, transactionHash: 'a/../b?c#d' });

		expect(failure.httpCode).toBe('404');
		expect(account.sandbox.requests.at(-1)?.path).toContain('a%2F..%2Fb%3Fc%23d');
	});

	test.each(['undefined', 'null', 'NaN', "'abc123"])(
		'refuses %s, which an expression or a sheet left in place of a hash',
		async (hash) => {
			const before = account.sandbox.requests.length;
			const failure = await account.fail({ ...parameters, transactionHash: hash });

			expect(failure.message).toBe(
				`Transaction Hash is "${hash}", which is not a hash; enter one hash alone`,
			);
			expect(account.sandbox.requests).toHaveLength(before);
		},
	);

	test.each([
		['another transaction', () => 'another1'],
		['a hash that the platform spells differently', () => String(created[0]?.hash).toUpperCase()],
	])('refuses %s instead of the requested transaction', async (_name, hash) => {
		account.fault('read', { kind: 'patchBody', set: { hash: hash() } });

		const failure = await account.fail(parameters, { items: created.slice(0, 1) });

		expect(failure.message).toBe('The answer of the platform could not be read');
	});
});
