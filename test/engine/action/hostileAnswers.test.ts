import fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { sequences } from '../../helpers/extent';
import { HOSTILE_ERRORS } from '../../helpers/notices';
import { defaultProcess, everythingIn, NodeProcess, runNode } from '../../helpers/engine';
import { pixParameters, useAccount } from '../../helpers/account';

/** JavaScript throws when it converts this value to text. */
const NO_TEXT = { toString: 1 };
const BODIES = Object.entries(HOSTILE_ERRORS);
/** Any characters. fast-check's own unit `binary` takes seconds to build. */
const BINARY = fc.string({
	unit: fc
		.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
		.map((point) => String.fromCodePoint(point)),
});
/** A long answer must not become a long error: n8n stores it with the execution. */
const LONGEST_ERROR = 20_000;

describe('An answer that is made to break the node', () => {
	const account = useAccount();
	let charge: INodeParameters;

	beforeAll(() => {
		charge = pixParameters(account.sandbox, { orderReference: 'order-1' });
	});
	afterEach(() => jest.restoreAllMocks());

	const reading = {
		resource: 'transaction',
		operation: 'get',
		transactionHash: 'ab12',
		simplify: false,
	};
	const answer = (status: number, body: string): void =>
		account.sandbox.addFault({ kind: 'status', status, body, processed: true });
	const unknown = /^The customer may already have been charged: /;

	test.each<[string, IDataObject]>([
		['the hash of an offer', { offer: { hash: NO_TEXT } }],
		['the hash of a product', { product: { hash: NO_TEXT } }],
		['a phone number', { customer: { phone_number: NO_TEXT } }],
		['a document', { customer: { document: NO_TEXT } }],
	])('%s that cannot become text does not fail a charge', async (_name, fields) => {
		answer(200, JSON.stringify({ hash: 'made1', payment_status: 'paid', ...fields }));

		const { json } = await account.run({ ...charge, simplify: true });

		expect(json).toMatchObject([{ hash: 'made1', customer_phone: null }]);
	});

	/** Bodies with any values under the names that the package reads. */
	const answers = () => {
		const odd = fc.oneof(
			fc.jsonValue({ maxDepth: 3 }),
			BINARY,
			fc.constantFrom(
				'A'.repeat(125_000),
				'0002'.repeat(50_000),
				'\u0301'.repeat(100_000),
				'\\u0041%41'.repeat(9_000),
				1e300,
				-0,
				'',
				'  \r\n',
				'19,90',
				'expired',
			),
			fc.integer({ min: 1, max: 60 }).map((levels) => `deep ${levels}`),
		);
		const each = (...names: string[]) => Object.fromEntries(names.map((name) => [name, odd]));
		const some = (...names: string[]) =>
			fc.oneof(odd, fc.record(each(...names), { requiredKeys: [] }));
		return fc.record(
			{
				success: fc.oneof(fc.constantFrom(true, false, 'false'), odd),
				pix: some('pix_url', 'pix_qr_code', 'qr_code_base64', 'pix_base64'),
				customer: some('hash', 'name', 'email', 'phone_number', 'document'),
				offer: some('hash', 'title', 'price'),
				product: some('hash', 'title', 'cover', 'status'),
				...each('message', 'errors', 'event', 'payment_method', 'payment_status', 'installments'),
				...each('billet', 'amount', 'amount_liquid', 'producer', 'items', 'postback_url'),
				...each('created_at', 'updated_at', 'src', 'tracking', 'utm_source'),
				...each('__proto__', 'toString'),
			},
			{ requiredKeys: [] },
		);
	};

	test.each([true, false])(
		'does not fail a charge if it contains a hash, whatever else it contains (Simplify %s)',
		async (simplify) => {
			const hashes = fc.oneof(
				fc.constantFrom('ab12', 'a/b', '\u0000x', 'h'.repeat(5_000), 12),
				BINARY.filter((text) => text.trim() !== ''),
			);
			const wrapped = fc.constantFrom<(made: object) => object>(
				(made) => made,
				(data) => ({ success: true, data }),
				(made) => ({ ...made, success: false }),
			);
			await fc.assert(
				fc.asyncProperty(hashes, answers(), wrapped, async (hash, rest, wrap) => {
					account.reset();
					answer(201, withDeepLists(JSON.stringify(wrap({ ...rest, hash }))));

					const outcome = await runNode(
						{ ...charge, orderReference: '', qrCodeImage: true, simplify },
						{ credentials: account.credentials, settings: { onError: 'continueErrorOutput' } },
					);

					expect(outcome.outputs.map((items) => items.length)).toEqual([1, 0]);
					expect(outcome.json[0]?.hash).toEqual(simplify ? String(hash).trim() : hash);
				}),
				{ numRuns: sequences(2) },
			);
		},
		30_000,
	);

	test.each<[string, string]>([
		['wrapped in a failure', '{"success":false,"data":{"hash":"made1"}}'],
		['in a list in a failure', '{"success":"false","data":[{"hash":"made1"}]}'],
		['deep in a failure', '{"success":false,"result":{"transaction":{"hash":"made1"}}}'],
		['under another name in a failure', '{"success":false,"transaction_hash":"made1"}'],
		['that JSON cannot represent', '{"hash":90071992547409931}'],
		['that JSON cannot represent, wrapped', '{"success":true,"data":{"hash":9007199254740993}}'],
		['that is not a whole number', '{"hash":1.5}'],
	])('a hash %s leaves a charge in doubt', async (_name, body) => {
		const shop = { mode: 'trigger', workflowId: `odd ${body}` } as const;
		answer(200, body);

		const first = await account.fail(charge, shop);
		const again = await account.fail(charge, shop);

		expect(first.message).toMatch(unknown);
		expect(again.message).toContain('may already have been charged');
		expect(account.sandbox.requests.map(({ method }) => method)).toEqual(['POST']);
	});

	test('a failure without a hash is a refusal, even if it repeats hashes of the cart', async () => {
		answer(200, '{"success":false,"message":"No","errors":{"cart.0.offer_hash":["is gone"]}}');

		expect((await account.fail(charge)).message).toBe('The platform did not accept the request');
	});

	test.each(['deep 64', 'deep 5000', 'deep 100000'])(
		'lists that are nested too deeply leave a charge in doubt, and fail a read: %s',
		async (lists) => {
			const body = withDeepLists(`{"hash":"ab12","payment_status":"paid","x":"${lists}"}`);
			answer(201, body);
			answer(200, body);

			const charged = await account.fail(charge);
			const read = await account.fail(reading);

			expect(charged.message).toMatch(unknown);
			expect(read.message).toBe('The answer of the platform could not be read');
		},
	);

	test.each([
		['half a character', '\\ud800x', 404, /may already have been charged for order "order-1"/],
		['blanks around it', ' ab12 ', 200, /^undefined$/],
	])(
		'a repeated order whose hash has %s sends no second charge',
		async (_name, hash, status, told) => {
			const order = {
				mode: 'trigger',
				workflowId: 'odd',
				credentials: account.credentials,
			} as const;
			const body = `{"hash":"${hash}","payment_status":"waiting_payment"}`;
			answer(201, body);
			await account.run(charge, order);
			answer(status, body);

			const again = await runNode(charge, order);

			expect(String(again.node?.error?.message)).toMatch(told);
			const [first, ...others] = account.sandbox.requests.map(({ method }) => method);
			expect([first, ...new Set(others)]).toEqual(['POST', 'GET']);
		},
	);

	test.each(BODIES)(
		'%s makes the outcome of a 500 unknown and that of a 422 a refusal',
		async (_name, body) => {
			answer(500, body);
			const unclear = await account.fail(charge);
			account.reset();
			answer(422, body);
			const refused = await account.fail(charge);

			expect(unclear.message).toMatch(unknown);
			expect(unclear.message).toContain('(500)');
			expect(refused.message).toBe('The platform did not accept the request (422)');
			for (const { kept } of [unclear, refused]) expect(kept.length).toBeLessThan(LONGEST_ERROR);
		},
	);

	test.each([
		['words', 'parseServiceWords'],
		['transaction', 'parseResource'],
	])('a fault of the package in reading the %s makes the outcome unknown', async (_what, name) => {
		const { message } = await account.fail(charge, { process: withFaultIn(name) });

		expect(message).toMatch(unknown);
		expect(account.sandbox.charges()).toBe(1);
	});

	test('echoed tokens reach neither items nor errors', async () => {
		const { apiToken, bodyApiToken } = account.sandbox;
		const shown = `${apiToken} and ${bodyApiToken.toUpperCase()}`;
		answer(422, `{"message":"${shown}","errors":{"${shown}":["${shown}"]}}`);
		answer(200, `{"hash":"ab12","note":"${shown}","${shown}":1}`);

		const { kept } = await account.fail(reading);
		const outcome = await account.run(reading);

		for (const text of [kept, everythingIn(outcome)]) {
			expect(text).toContain('[token removed]');
			expect(text).not.toMatch(/est-(api|body)-token/i);
		}
	});
});

/** The package, if a function that reads answers had a fault. */
function withFaultIn(name: string): NodeProcess {
	const path = '../../../nodes/DigitalSales/api/schemas/answer';
	const faulty = () => {
		throw new RangeError('Maximum call stack size exceeded');
	};
	let faultyProcess = defaultProcess;
	jest.isolateModules(() => {
		jest.doMock(path, () => ({ ...jest.requireActual<object>(path), [name]: faulty }));
		faultyProcess = new NodeProcess();
		jest.dontMock(path);
	});
	return faultyProcess;
}

/** Replaces names by deep lists, because neither JSON.stringify nor a report of fast-check can be so deep. */
function withDeepLists(json: string): string {
	return json.replace(/"deep (\d+)"/g, (_name, levels: string) => {
		return '['.repeat(Number(levels)) + ']'.repeat(Number(levels));
	});
}
