import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { NodeProcess, processedItems, runListSearch, runNode } from '../harness';
import { openAccount, pixParameters, useAccount } from '../support/account';
import { callTool } from '../support/tool';

const GET_MANY = { resource: 'product', operation: 'getAll', limit: 3 };

describe('A price that differs from the catalog by exactly a hundred', () => {
	const account = useAccount();

	/** The hash of an offer that the service takes. */
	const known = (): string => account.sandbox.products[0]?.offers[0]?.hash ?? '';
	/** What the catalog holds from now on: one product with these offers. */
	const sells = (...offers: IDataObject[]): void => {
		const data = [{ hash: 'p1', title: 'Curso', offers }];
		const set = { data, meta: { last_page: 1 } };
		account.sandbox.clearFaults();
		account.fault('list', { kind: 'patchBody', set }, 'always');
	};
	const seen = async (price: number | string): Promise<void> => {
		sells({ hash: known(), price });
		await account.run(GET_MANY);
	};
	const item = (price: string, more: INodeParameters = {}): INodeParameters => ({
		offerHash: known(),
		more: { title: 'Curso' },
		price,
		...more,
	});
	const cart = (...items: INodeParameters[]): INodeParameters =>
		pixParameters(account.sandbox, { cart: { items } });
	const charges = (): IDataObject[] =>
		account.sandbox.requests
			.filter(({ path }) => path.endsWith('/transactions'))
			.map(({ body }) => body as IDataObject);
	const reads = (): number =>
		account.sandbox.requests.filter(({ method }) => method === 'GET').length;

	test('is refused, and the error names the field and both readings', async () => {
		await seen(1990);

		const failure = await account.fail(
			cart({ more: { title: 'Livro' }, price: '5' }, item('1990')),
		);

		expect(failure.message).toBe(
			'Cart > Item 2 > Price in Reais is R$ 1.990,00, but the catalog last said R$ 19,90',
		);
		expect(failure.description).toBe(
			'Nothing was sent. Enter 19,90, or add Options > Allow Price Mismatch if R$ 1.990,00 is right.',
		);
		expect(failure.itemIndex).toBe(0);
		expect(charges()).toEqual([]);
	});

	test.each<[string, () => Promise<unknown>]>([
		['Get Many', async () => await account.run(GET_MANY)],
		[
			'the list of offers',
			async () => await runListSearch('searchOffers', { credentials: account.credentials }),
		],
		['a charge with blanks', async () => await account.run(cart({ offerHash: known() }))],
	])('is known from %s', async (_name, read) => {
		sells({ hash: known(), price: 1990 });
		await read();

		const before = charges().length;
		const failure = await account.fail(cart(item('1990')));

		expect(failure.message).toContain('but the catalog last said R$ 19,90');
		expect(charges()).toHaveLength(before);
	});

	test.each([
		['it is allowed', { allowPriceMismatch: true }, true],
		['it is expressly not allowed', { allowPriceMismatch: false }, false],
	])('is charged only if allowed: %s', async (_name, options, isSent) => {
		await seen(1990);

		await account.run({ ...cart(item('1990')), options }).catch(() => undefined);

		expect(charges()).toMatchObject(isSent ? [{ amount: 199_000 }] : []);
	});

	test('is never looked up for this alone', async () => {
		sells({ hash: known(), price: 1990 });

		await account.run(cart(item('1990')));

		expect(reads()).toBe(0);
		expect(charges()).toMatchObject([{ amount: 199_000 }]);
	});

	test('counts only in the account whose catalog it is', async () => {
		await seen(1990);
		const other = await openAccount();
		try {
			await other.run(cart(item('1990')));
			expect(other.sandbox.requests).toHaveLength(1);
		} finally {
			await other.sandbox.close();
		}
	});

	test('is measured by the latest read', async () => {
		await seen(1990);
		await seen(2990);

		await account.run(cart(item('1990')));
		const failure = await account.fail(cart(item('2990')));

		expect(charges()).toMatchObject([{ amount: 199_000 }]);
		expect(failure.message).toContain('the catalog last said R$ 29,90');
	});

	test('says nothing of an offer that is free, nor of one without a readable price', async () => {
		await seen(0);
		// The sandbox charges nothing for nothing.
		await account.run(cart(item('0')), { continueOnFail: true });
		await seen('much');
		await account.run(cart(item('1990')));

		expect(charges()).toMatchObject([{ amount: 0 }, { amount: 199_000 }]);
	});

	test('cannot come from the catalog itself', async () => {
		await seen(1990);
		sells({ hash: known(), title: 'Curso', price: 199_000 });

		await account.run(cart({ offerHash: known() }));

		expect(charges()).toMatchObject([{ amount: 199_000 }]);
	});

	describe('in one item of a run', () => {
		const rows = (): INodeParameters =>
			cart({
				offerHash: known(),
				more: { title: '={{ $json.title }}' },
				price: '={{ $json.price }}',
			});

		test.each([
			['one before the catalog was read', [{ title: 'A', price: '1990' }, { price: '19,90' }], 0],
			['one behind that item', [{ price: '19,90' }, { title: 'A', price: '1990' }], 1],
		])('keeps all of it from being sent: %s', async (_name, items, wrong) => {
			sells({ hash: known(), price: 1990 });

			const failure = await account.fail(rows(), { items });

			expect(failure.itemIndex).toBe(wrong);
			expect(failure.description).toContain(`Item ${wrong + 1} was not sent.`);
			expect(charges()).toEqual([]);
		});
	});

	describe('between Amount and the cart', () => {
		const amount = (value: string, more: INodeParameters = {}): INodeParameters => ({
			...cart(item('19,00', { quantity: 2, ...more })),
			additionalFields: { amount: value },
		});

		test.each([
			['a hundred times the cart', '3800', 'R$ 3.800,00'],
			['a hundredth of it', '0,38', 'R$ 0,38'],
		])('is refused: %s', async (_name, value, reading) => {
			const failure = await account.fail(amount(value));

			expect(failure.message).toBe(
				`Additional Fields > Amount in Reais is ${reading}, but the cart adds up to R$ 38,00`,
			);
			expect(failure.description).toContain('Enter 38,00, or');
			expect(account.sandbox.requests).toEqual([]);
		});

		test('is found with prices from the catalog', async () => {
			sells({ hash: known(), title: 'Curso', price: 1900 });

			const failure = await account.fail(amount('3800', { price: '' }));

			expect(failure.message).toContain('but the cart adds up to R$ 38,00');
			expect(charges()).toEqual([]);
		});

		test('is charged where it is allowed', async () => {
			await account.run({ ...amount('3800'), options: { allowPriceMismatch: true } });

			expect(charges()).toMatchObject([{ amount: 380_000 }]);
		});

		test.each([['380'], ['3800,01'], ['38']])(
			'is charged where it is another: %s',
			async (value) => {
				await account.run(amount(value));

				expect(charges()).toHaveLength(1);
			},
		);
	});

	describe('of an offer that was just created', () => {
		const offer = (more: INodeParameters = {}): INodeParameters => ({
			resource: 'offer',
			operation: 'create',
			productHash: account.sandbox.products[0]?.hash ?? '',
			title: 'Oferta',
			price: '19,90',
			...more,
		});
		/** The fields of the created offer, as the next form takes them. */
		const chargeFor = (made: IDataObject = {}): INodeParameters =>
			cart({
				offerHash: String(made.hash),
				more: { title: String(made.title) },
				price: String(made.price_reais ?? made.price),
			});

		test('does not arise from its simplified price', async () => {
			const { json } = await account.run(offer());

			await account.run(chargeFor(json[0]));

			expect(charges()).toMatchObject([{ amount: 1990 }]);
		});

		test('is refused if its raw price goes into the next form', async () => {
			const { json } = await account.run(offer({ simplify: false }));

			const failure = await account.fail(chargeFor({ ...json[0], price_reais: undefined }));

			expect(json[0]).toMatchObject({ price: 1990 });
			expect(failure.message).toContain('is R$ 1.990,00, but the catalog last said R$ 19,90');
			expect(charges()).toEqual([]);
		});

		test('is refused as well if a Retry returned the offer after a restart', async () => {
			account.fault('offer', { kind: 'status', status: 422, after: 1 });
			const raw = offer({ simplify: false });
			const of = {
				credentials: account.credentials,
				mode: 'trigger',
				workflowId: 'offers',
			} as const;
			const first = await runNode(raw, { ...of, items: [{}, {}] });
			const retryOf = first.run?.data;
			if (!retryOf) throw new Error('The execution did not run');
			const process = NodeProcess.fresh();

			const retry = await runNode(raw, { ...of, retryOf, process });
			const made = { ...retry.json[0], price_reais: undefined };
			const failure = await account.fail(chargeFor(made), { process });

			expect(failure.message).toContain('is R$ 1.990,00, but the catalog last said R$ 19,90');
			expect(charges()).toEqual([]);
		});
	});

	const shop = { mode: 'trigger', workflowId: 'shop' } as const;
	const charge = (more: INodeParameters = {}): INodeParameters => ({
		...cart(item('100,00')),
		...more,
	});

	describe('of something that was charged before', () => {
		test('does not hide that the charge is in doubt', async () => {
			account.fault('charge', { kind: 'resetAfterProcessing' });
			await account.fail(charge(), shop);
			await seen(100);

			const again = await account.fail(charge(), shop);

			expect(again.message).toBe('The customer may already have been charged, so nothing was sent');
			expect(account.sandbox.charges()).toBe(1);
		});

		test('does not hide that the order was charged', async () => {
			const order = charge({ orderReference: 'order-1' });
			const first = await account.run(order, shop);
			await seen(100);

			const again = await account.run(order, shop);

			expect(again.json).toMatchObject([{ hash: first.json[0]?.hash }]);
			expect(account.sandbox.charges()).toBe(1);
		});

		test('does not keep Retry from returning what exists', async () => {
			const { run, json } = await account.run(charge(), shop);
			await seen(100);

			const retried = await account.run(charge(), { ...shop, retryOf: run?.data });

			expect(retried.json).toMatchObject([{ hash: json[0]?.hash }]);
		});
	});

	test('is refused to an Agent of n8n, unless the same was charged a moment ago', async () => {
		const call = async (customerDocument: string) =>
			await callTool({ ...cart(item('100,00')), customerDocument }, [{}], {
				credentials: account.credentials,
				// There is no workflow, and so no ledger.
				workflowId: '',
			});
		await call('529.982.247-25');
		await seen(100);
		const again = await call('529.982.247-25');
		const other = await call('111.444.777-35');

		expect(again.answers).toMatchObject([[{ hash: account.sandbox.transactions[0]?.hash }]]);
		expect(other.errors.join()).toContain('the catalog last said R$ 1,00');
		expect(account.sandbox.charges()).toBe(1);
	});

	describe('beside an equal charge in another execution', () => {
		test('is refused although that one is under way', async () => {
			await seen(100);
			account.fault('charge', { kind: 'delayAfterProcessing', ms: 300 });
			const allowed = account.run(charge({ options: { allowPriceMismatch: true } }), shop);
			while (account.sandbox.charges() < 1) await new Promise((resolve) => setTimeout(resolve, 5));

			const refused = await account.fail(charge(), shop);

			expect(refused.message).toContain('the catalog last said');
			await allowed;
			expect(account.sandbox.charges()).toBe(1);
		});

		test('is refused although that one began in the same millisecond, in an n8n without resume tokens', async () => {
			jest.spyOn(URLSearchParams.prototype, 'get').mockReturnValue(null);
			jest.spyOn(Date, 'now').mockReturnValue(Date.now());
			await account.run(charge(), shop);
			await seen(100);

			const refused = await account.fail(charge(), shop);

			jest.restoreAllMocks();
			expect(refused.message).toContain('the catalog last said');
			expect(account.sandbox.charges()).toBe(1);
		});

		test('does not make that one look in doubt', async () => {
			await seen(100);
			processedItems.latency = () => 20;

			const [refused, allowed] = await Promise.all([
				account.fail(charge(), shop),
				account.run(charge({ options: { allowPriceMismatch: true } }), shop),
			]);

			processedItems.clear();
			expect(refused.message).toContain('the catalog last said');
			expect(allowed.json).toHaveLength(1);
			expect(account.sandbox.charges()).toBe(1);
		});
	});

	test('does not matter if Custom Fields replace the cart', async () => {
		await seen(1990);
		const customFields = {
			cart: [{ offer_hash: known(), price: 1990, quantity: 1 }],
			amount: 1990,
		};

		await account.run({ ...cart(item('1990')), additionalFields: { customFields } });

		expect(charges()).toMatchObject([{ amount: 1990 }]);
	});
});
