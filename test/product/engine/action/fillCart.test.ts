import { setTimeout } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import { cpf } from '../../../support/charge';
import { runNode } from '../harness';
import { customers, OWN_CUSTOMER } from '../support/charging';
import { pixParameters, useAccount } from '../support/account';

describe('The cart of Create PIX', () => {
	const account = useAccount();

	const product = (index: number) => {
		const found = account.sandbox.products[index];
		const [offer] = found?.offers ?? [];
		if (!found || !offer) throw new Error(`No product ${index}`);
		return { ...found, offer };
	};
	const cart = (...items: INodeParameters[]): INodeParameters =>
		pixParameters(account.sandbox, { cart: { items } });
	const bodies = (): IDataObject[] =>
		account.sandbox.requests
			.filter(({ method }) => method === 'POST')
			.map(({ body }) => body as IDataObject);
	const methods = (): string[] => account.sandbox.requests.map(({ method }) => method);
	const picked = (value: string, mode = 'list') => ({
		offerHash: { __rl: true, mode, value },
	});

	test('takes title, price and cover from the catalog where they were left blank', async () => {
		const { cover, offer, title } = product(0);

		await account.run(cart({ ...picked(offer.hash), quantity: 3, price: ' ' }));

		expect(bodies()).toMatchObject([
			{
				amount: offer.price * 3,
				cart: [
					{
						offer_hash: offer.hash,
						title: offer.title ?? title,
						price: offer.price,
						cover,
						quantity: 3,
					},
				],
			},
		]);
		expect(methods()).toEqual(['GET', 'POST']);
	});

	test('leaves alone what needs nothing but a cover or has no offer, and reads no further for it', async () => {
		const { offer } = product(0);
		const complete = { ...picked('elsewhere'), price: '7,00', more: { title: 'Elsewhere' } };

		await account.run(cart({ price: '5,00' }, picked(offer.hash), complete), {
			continueOnFail: true,
		});

		expect(bodies()).toMatchObject([
			{
				amount: 500 + offer.price + 700,
				cart: [
					{ price: 500 },
					{ offer_hash: offer.hash, price: offer.price },
					{ offer_hash: 'elsewhere', title: 'Elsewhere', price: 700 },
				],
			},
		]);
		expect(methods()).toEqual(['GET', 'POST']);
	});

	test('misses nothing in a catalog whose pages repeat products', async () => {
		const first = {
			hash: 'p1',
			title: 'Curso',
			offers: [{ hash: 'offera', title: 'A', price: 5 }],
		};
		const other = { ...first, offers: [{ hash: 'offerb', title: 'B', price: 7 }] };
		for (const [index, product] of [first, first, other].entries()) {
			const set = { data: [product], meta: { last_page: 3, per_page: 1, total: 9 } };
			account.fault('list', { kind: 'patchBody', set, query: { page: String(index + 1) } });
		}

		await account.run(cart(picked('offerb')), { continueOnFail: true });

		expect(bodies()).toMatchObject([{ amount: 7, cart: [{ title: 'B', price: 7 }] }]);
	});

	describe('from a catalog that says little', () => {
		/** The first page of the catalog, as the service then sends it. */
		const sends = (...data: IDataObject[]): void => {
			const set = { data, meta: { last_page: 1 } };
			account.fault('list', { kind: 'patchBody', set }, 'always');
		};
		const hintsOf = async (item: INodeParameters): Promise<string[]> => {
			const { hints } = await account.run(cart(item), { continueOnFail: true });
			return hints.map(({ message }) => message);
		};

		test.each<[string, IDataObject, number | null, number[]]>([
			['a price that is gone', {}, null, []],
			['the price of a product that is no longer sold', { status: 2 }, 2990, [2990]],
		])('does not fill in an older price for %s', async (_name, more, price, amounts) => {
			const { offer } = product(0);
			const { hash } = offer;
			sends({ hash: 'p1', title: 'Curso', offers: [{ hash, price: 1990 }] });
			await account.run({ resource: 'product', operation: 'getAll' });
			account.sandbox.clearFaults();
			sends({ hash: 'p1', title: 'Curso', offers: [{ hash, price }], ...more });
			await account.run(cart(picked(hash)), { continueOnFail: true });

			expect(bodies().map(({ amount }) => amount)).toEqual(amounts);
		});

		test('the title of the product stands in for that of the offer', async () => {
			const { offer } = product(0);
			sends({ hash: 'p1', title: 'Curso', offers: [{ hash: offer.hash, title: null, price: 9 }] });

			expect(await hintsOf(picked(offer.hash))).toEqual([]);
			expect(bodies()).toMatchObject([{ amount: 9, cart: [{ title: 'Curso', price: 9 }] }]);
		});

		test('a picture that is no address is left out, and that is no news', async () => {
			const { offer } = product(0);
			const offers = [{ hash: offer.hash, title: 'Oferta', price: '12' }];
			sends({ hash: 'p1', title: 'Curso', cover: 'cover.png', offers });

			expect(await hintsOf(picked(offer.hash))).toEqual([]);
			expect(bodies()[0]?.cart).toEqual([
				{ offer_hash: offer.hash, title: 'Oferta', price: 12, quantity: 1, operation_type: 1 },
			]);
		});

		test('a title that it does not know either, stays blank', async () => {
			const { offer } = product(0);
			sends({ hash: 'p1', offers: [{ hash: offer.hash }] });

			expect(await hintsOf({ ...picked(offer.hash), price: '0,05' })).toEqual([
				`Offer ${offer.hash} is incomplete in the catalog, so More > Title stayed empty.`,
			]);
		});

		test('the title of an offer that it does not hold stays blank', async () => {
			sends({ hash: 'p1', offers: [] });

			expect(await hintsOf({ ...picked('unknown1'), price: '0,05' })).toEqual([
				`Offer unknown1 was not found in the part of the catalog that was read (at most 5 pages), so More > Title stayed empty.`,
			]);
			expect(bodies()).toMatchObject([{ cart: [{ offer_hash: 'unknown1', price: 5 }] }]);
		});

		test('a line without an offer and a price is missed before anything is sent', async () => {
			const failure = await account.fail(cart({ price: '5,00' }, { more: { title: 'A' } }));

			expect(failure.message).toBe('Cart > Item 2 > Price in Reais is empty');
			expect(failure.description).toContain('Choose an offer, or enter the price.');
			expect(methods()).toEqual([]);
		});

		test.each([
			[{}, 'Price and More > Title'],
			[{ more: { title: 'A' } }, 'Price'],
		])(
			'a price that it does not know is missed before anything is sent: %j',
			async (typed, blanks) => {
				const { offer } = product(0);
				sends({ hash: 'p1', offers: [{ hash: offer.hash }] });

				const failure = await account.fail(cart({ ...picked(offer.hash), ...typed }));

				expect(failure.message).toBe('Cart > Item 1 > Price in Reais is empty');
				expect(failure.description).toContain(
					`Offer ${offer.hash} is incomplete in the catalog, so ${blanks} stayed empty. Enter the price.`,
				);
				expect(bodies()).toEqual([]);
			},
		);

		test('a price of an offer that it does not hold is missed before anything is sent', async () => {
			sends();

			const failure = await account.fail(cart(picked('unknown1')));

			expect(failure.message).toBe('Cart > Item 1 > Price in Reais is empty');
			expect(bodies()).toEqual([]);
		});

		test('a price that it does not know is left to a given amount', async () => {
			sends({ hash: 'p1', offers: [] });

			await account.run(
				{ ...cart(picked('unknown1')), additionalFields: { amount: '5' } },
				{ continueOnFail: true },
			);

			expect(bodies()).toMatchObject([{ amount: 500 }]);
		});
	});

	test('keeps what was typed', async () => {
		const { cover, offer } = product(1);

		await account.run(cart({ ...picked(offer.hash), more: { title: 'Meu título' } }));

		expect(bodies()).toMatchObject([
			{ amount: offer.price, cart: [{ title: 'Meu título', cover }] },
		]);
	});

	test('asks once for all items of a run and for the next run', async () => {
		// An offer of a product that is not sold may stand on a later page with one that is.
		const sold = account.sandbox.products.flatMap((one, at) => (one.status === 1 ? [at] : []));
		const offers = sold.slice(0, 20).map((index) => product(index).offer);
		const input = offers.map(({ hash }) => ({ hash }));
		const parameters = cart({ offerHash: '={{ $json.hash }}' });

		await account.run(parameters, { items: input });
		await account.run(parameters, { items: input });

		expect(bodies().map(({ amount }) => amount)).toEqual(
			[...offers, ...offers].map(({ price }) => price),
		);
		expect(methods().filter((method) => method === 'GET')).toHaveLength(1);
	});

	test('is complete for all items before the first is sent', async () => {
		const input = [0, 130].map((index) => ({ hash: product(index).offer.hash }));

		await account.run(cart({ offerHash: '={{ $json.hash }}' }), { items: input });

		expect(methods()).toEqual(['GET', 'GET', 'POST', 'POST']);
	});

	test('sends nothing at all where an item is wrong', async () => {
		const failure = await account.fail(
			cart({ ...picked(product(0).offer.hash), price: '={{ $json.price }}' }),
			{ items: [{ price: '5' }, { price: 'cheap' }] },
		);

		expect(failure.itemIndex).toBe(1);
		expect(account.sandbox.requests).toEqual([]);
	});

	describe('of a price that cannot be charged', () => {
		const priced = (price: number): INodeParameters => {
			const { offer } = product(0);
			const offers = [{ hash: offer.hash, price }];
			const set = { data: [{ hash: 'p1', title: 'Curso', offers }], meta: { last_page: 1 } };
			account.fault('list', { kind: 'patchBody', set });
			return cart({
				...picked('={{ $json.offer }}', 'hash'),
				more: { title: 'A' },
				quantity: '={{ $json.quantity }}',
			});
		};

		test('charges nobody less than nothing', async () => {
			const failure = await account.fail(priced(-1990), {
				items: [{ offer: product(0).offer.hash, quantity: 1 }],
			});

			expect(failure.message).toContain(
				'Cart > Item 1 > Price in Reais must be a whole number of at least 0',
			);
			expect(methods()).toEqual(['GET']);
		});

		test('leaves the other items alone where errors let the run go on', async () => {
			const offer = product(0).offer.hash;
			const { json } = await account.run(priced(1990), {
				items: [
					{ offer, quantity: 9_007_199_254_740_991 },
					{ offer, quantity: 1 },
				],
				continueOnFail: true,
			});

			expect(JSON.stringify(json[0])).toContain('Cart adds up to more than');
			expect(bodies()).toMatchObject([{ amount: 1990 }]);
		});
	});

	test.each([
		['fails', { kind: 'status', status: 500 }],
		['is limited', { kind: 'retryAfter', seconds: 60 }],
	] as const)(
		'charges nobody for what the catalog should fill in where that %s',
		async (_name, fault) => {
			account.fault('list', fault, 'always');
			const { hash } = product(0).offer;
			const charging = async (more: INodeParameters) =>
				await account.run(cart({ ...picked(hash), ...more }), { continueOnFail: true });

			const blank = [await charging({}), await charging({ price: '5' })];
			await charging({ price: '5', more: { title: 'A' } });

			const refused = {
				message: `Offer ${hash} could not be looked up in the catalog`,
				advice: expect.stringContaining('Nothing was sent.') as string,
				outcome: 'notSent',
			};
			expect(blank.map(({ json }) => json)).toMatchObject([
				[{ error: refused }],
				[{ error: refused }],
			]);
			expect(bodies()).toMatchObject([{ amount: 500, cart: [{ title: 'A', price: 500 }] }]);
		},
	);

	test('does not say "not sent" to a Retry, whose first attempt may have charged', async () => {
		const parameters = { ...cart(picked(product(0).offer.hash)), ...OWN_CUSTOMER };
		const options = { credentials: account.credentials, workflowId: 'retried' };
		account.fault('charge', { kind: 'status', status: 422, after: 1 });
		const items = customers(2);
		const { run } = await runNode(parameters, { ...options, items });
		clearProcessWide();
		account.fault('list', { kind: 'status', status: 500 }, 'always');

		const retry = { ...options, retryOf: run?.data, continueOnFail: true };
		const { json } = await runNode(parameters, retry);

		const refused = { error: { outcome: 'unknown' } };
		expect(json).toMatchObject([refused, refused]);
		expect(account.sandbox.charges()).toBe(1);
	});

	test('is whole for the last of three at once, though the first two are canceled', async () => {
		const { offer } = product(0);
		account.fault('list', { kind: 'delay', ms: 50 }, 'always');
		const started = customers(3).map(({ document: customerDocument }) =>
			runNode(
				{ ...cart(picked(offer.hash)), customerDocument },
				{ credentials: account.credentials },
			),
		);
		while (methods().length === 0) await setTimeout(1);
		for (const canceled of started.slice(0, 2)) canceled.cancel();

		const outcomes = await Promise.all(started);

		expect(outcomes.map(({ status }) => status)).toEqual(['canceled', 'canceled', 'success']);
		expect(methods()).toEqual(['GET', 'POST']);
		expect(bodies()).toMatchObject([
			{
				amount: offer.price,
				cart: [{ price: offer.price }],
				customer: { document: cpf(123_456_002).replace(/\D/g, '') },
			},
		]);
	});
});
