import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { runNode } from '../../helpers/engine';
import { customers, OWN_CUSTOMER } from '../../helpers/charging';
import { pixParameters, useAccount } from '../../helpers/account';

describe('The cart of Create PIX', () => {
	const account = useAccount();

	const product = (index: number) => {
		const found = account.sandbox.products[index];
		const [offer] = found?.offers ?? [];
		if (!found || !offer) throw new Error(`No product ${index}`);
		return { ...found, offer };
	};
	/** The hash of an offer that the platform accepts. */
	const known = (): string => product(0).offer.hash;
	/** From now on, the catalog contains one product with that offer. */
	const sells = (offer: IDataObject, more: IDataObject = { title: 'Curso' }): void =>
		account.sells({ hash: 'p1', ...more, offers: [{ hash: known(), ...offer }] });
	const cart = (...items: INodeParameters[]): INodeParameters =>
		pixParameters(account.sandbox, { cart: { items } });
	const picked = (value: string) => ({ offerHash: { __rl: true, mode: 'list', value } });
	const methods = (): string[] => account.sandbox.requests.map(({ method }) => method);

	test('gets blank titles, prices and covers from the catalog', async () => {
		const { cover, offer, title } = product(0);

		await account.run(cart({ ...picked(offer.hash), quantity: 3, price: ' ' }));

		expect(account.bodies()).toMatchObject([
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

	test('does not read the catalog for a missing cover alone', async () => {
		const { offer } = product(0);
		const complete = { ...picked('elsewhere'), price: '7,00', more: { title: 'Elsewhere' } };

		await account.run(cart(picked(offer.hash), complete), {
			continueOnFail: true,
		});

		expect(account.bodies()).toMatchObject([
			{
				amount: offer.price + 700,
				cart: [
					{ offer_hash: offer.hash, price: offer.price },
					{ offer_hash: 'elsewhere', title: 'Elsewhere', price: 700 },
				],
			},
		]);
		expect(methods()).toEqual(['GET', 'POST']);
	});

	test('keeps entered values', async () => {
		const { cover, offer } = product(1);

		await account.run(cart({ ...picked(offer.hash), more: { title: 'Meu título' } }));

		expect(account.bodies()).toMatchObject([
			{ amount: offer.price, cart: [{ title: 'Meu título', cover }] },
		]);
	});

	describe('from several products with the offer', () => {
		const sellsEach = (...products: Array<[price: number, status: number, title: string]>): void =>
			account.sells(
				...products.map(([price, status, title]) => ({
					...{ hash: title, status, title },
					offers: [{ hash: known(), price }],
				})),
			);

		test('uses the product that is on sale', async () => {
			sellsEach([4700, 2, 'Velho'], [9700, 1, 'Novo'], [700, 2, 'Outro']);

			await account.run(cart(picked(known())));

			expect(account.bodies()).toMatchObject([
				{ amount: 9700, cart: [{ price: 9700, title: 'Novo' }] },
			]);
		});

		test('is an error if two products on sale have different prices for it', async () => {
			sellsEach([4700, 1, 'A'], [9700, 1, 'B']);

			const failure = await account.fail(cart(picked(known())));

			expect(failure.message).toBe('Cart > Item 1 > Price in Reais is empty');
			expect(failure.description).toContain('has several prices in the catalog. Enter the price.');
			expect(account.bodies()).toEqual([]);
		});

		test('is refused if only a product off sale was read before the catalog failed', async () => {
			sellsEach([4700, 2, 'Velho']);
			account.sandbox.clearFaults();
			const set = {
				data: [{ hash: 'v', status: 2, title: 'Velho', offers: [{ hash: known(), price: 4700 }] }],
				meta: { last_page: 2 },
			};
			account.fault('list', { kind: 'patchBody', set });
			account.fault('list', { kind: 'status', status: 500, after: 1 }, 'always');

			const failure = await account.fail(cart(picked(known())));

			expect(failure.message + failure.description).toContain('could not be looked up');
			expect(account.bodies()).toEqual([]);
		});
	});

	test('uses the price that was read last, by any operation', async () => {
		const chargeAt = async (price: number, customerDocument: string): Promise<void> => {
			sells({ price });
			await account.run({ resource: 'product', operation: 'getAll' });
			await account.run({ ...cart(picked(known())), customerDocument });
		};

		await chargeAt(4700, '529.982.247-25');
		await chargeAt(9700, '111.444.777-35');

		expect(account.bodies()).toMatchObject([{ amount: 4700 }, { amount: 9700 }]);
	});

	describe('from an incomplete catalog', () => {
		const hintsOf = async (item: INodeParameters): Promise<string[]> => {
			const { hints } = await account.run(cart(item), { continueOnFail: true });
			return hints.map(({ message }) => message);
		};

		test.each<[string, IDataObject, number | null, number[]]>([
			['a price that is gone', {}, null, []],
			['the price of a product that is no longer sold', { status: 2 }, 2990, [2990]],
		])('does not fill in an older price for %s', async (_name, more, price, amounts) => {
			sells({ price: 1990 });
			await account.run({ resource: 'product', operation: 'getAll' });
			sells({ price }, { title: 'Curso', ...more });
			await account.run(cart(picked(known())), { continueOnFail: true });

			expect(account.bodies().map(({ amount }) => amount)).toEqual(amounts);
		});

		test('a missing title of the offer is replaced by that of the product', async () => {
			sells({ title: null, price: 9 });

			expect(await hintsOf(picked(known()))).toEqual([]);
			expect(account.bodies()).toMatchObject([{ amount: 9, cart: [{ title: 'Curso', price: 9 }] }]);
		});

		test('a cover that is no web address is left out without a hint', async () => {
			sells({ title: 'Oferta', price: '12' }, { cover: 'cover.png' });

			expect(await hintsOf(picked(known()))).toEqual([]);
			expect(account.bodies()[0]?.cart).toEqual([
				{ offer_hash: known(), title: 'Oferta', price: 12, quantity: 1, operation_type: 1 },
			]);
		});

		const INCOMPLETE = 'has no price in the catalog.';
		const UNKNOWN = 'was not found in the first 5 pages of the catalog.';

		test.each([
			['that the catalog lacks, too,', known],
			['of an offer that the catalog lacks', () => 'unknown1'],
		])('a blank title %s stays blank', async (_name, offer) => {
			sells({}, {});

			expect(await hintsOf({ ...picked(offer()), price: '0,05' })).toEqual([]);
			expect(account.bodies()).toMatchObject([{ cart: [{ offer_hash: offer(), price: 5 }] }]);
		});

		test.each<[string, () => string, IDataObject, string]>([
			['that the catalog lacks', known, {}, INCOMPLETE],
			['alone that the catalog lacks', known, { title: 'A' }, INCOMPLETE],
			['of an offer that the catalog lacks', () => 'unknown1', {}, UNKNOWN],
		])('a blank price %s is an error, and nothing is sent', async (_name, offer, more, problem) => {
			sells({}, {});

			const failure = await account.fail(
				cart({ ...picked(offer()), more: more as INodeParameters }),
			);

			expect(failure.message).toBe('Cart > Item 1 > Price in Reais is empty');
			expect(failure.description).toContain(`Offer ${offer()} ${problem} Enter the price.`);
			expect(account.bodies()).toEqual([]);
		});

		test('an item without an offer is refused by n8n, because it belongs in Custom Fields', async () => {
			const line = cart({ price: '5,00', more: { title: 'A' } });

			await expect(account.run(line)).rejects.toThrow('"Offer" is required');
			expect(methods()).toEqual([]);
		});
	});

	test('reads the catalog once for all items of a run and the next run', async () => {
		// If a product is not on sale, a later page may have a product on sale with the same offer.
		const sold = account.sandbox.products.filter(({ status }) => status === 1).slice(0, 3);
		const offers = sold.flatMap(({ offers: [offer] }) => offer ?? []);
		const items = offers.map(({ hash }) => ({ hash }));
		const parameters = cart({ offerHash: '={{ $json.hash }}' });

		await account.run(parameters, { items });
		await account.run(parameters, { items });

		expect(account.bodies().map(({ amount }) => amount)).toEqual(
			[...offers, ...offers].map(({ price }) => price),
		);
		expect(methods().filter((method) => method === 'GET')).toHaveLength(1);
	});

	test('is complete for all items before the first is sent', async () => {
		const items = [0, 130].map((index) => ({ hash: product(index).offer.hash }));

		await account.run(cart({ offerHash: '={{ $json.hash }}' }), { items });

		expect(methods()).toEqual(['GET', 'GET', 'POST', 'POST']);
	});

	test('never charges a negative amount, whatever price the catalog has', async () => {
		sells({ price: -1990 });

		const failure = await account.fail(cart(picked(known())));

		expect(failure.message).toBe('Cart > Item 1 > Price in Reais is empty');
		expect(methods()).toEqual(['GET']);
	});

	test.each([
		['fails', { kind: 'status', status: 500 }],
		['is limited', { kind: 'retryAfter', seconds: 120 }],
	] as const)('needs an entered price, but no title, if the catalog %s', async (_name, fault) => {
		account.fault('list', fault, 'always');
		const charging = async (more: INodeParameters) =>
			await account.run(cart({ ...picked(known()), ...more }), { continueOnFail: true });

		const blank = await charging({});
		const untitled = await charging({ price: '5' });
		const whole = await charging({ price: '6', more: { title: 'A' } });

		expect(blank.json).toMatchObject([
			{
				error: {
					message: 'Cart > Item 1 > Price in Reais is empty',
					advice: expect.stringContaining('could not be looked up in the catalog') as string,
					outcome: 'notSent',
				},
			},
		]);
		expect(untitled.hints).toEqual([]);
		expect(whole.hints).toEqual([]);
		expect(account.bodies()).toMatchObject([
			{ amount: 500, cart: [{ price: 500 }] },
			{ amount: 600, cart: [{ title: 'A', price: 600 }] },
		]);
		expect(account.bodies()[0]?.cart).not.toMatchObject([{ title: expect.anything() as string }]);
	});

	test('charges no hundredfold amount because the catalog failed', async () => {
		account.fault('list', { kind: 'status', status: 500 }, 'always');
		const { price } = product(0).offer;
		const customFields = { amount: price };
		const hundredfold = { ...cart(picked(known())), additionalFields: { customFields } };

		await account.fail(hundredfold);
		expect(account.bodies()).toEqual([]);
	});

	test('has an unknown outcome in a Retry without a catalog, because the first attempt may have charged', async () => {
		const parameters = { ...cart(picked(known())), ...OWN_CUSTOMER };
		const options = { credentials: account.credentials, workflowId: 'retried' };
		account.fault('charge', { kind: 'status', status: 422, after: 1 });
		const { run } = await runNode(parameters, { ...options, items: customers(2) });
		clearProcessState();
		account.fault('list', { kind: 'status', status: 500 }, 'always');

		const retry = { ...options, retryOf: run?.data, continueOnFail: true };
		const { json } = await runNode(parameters, retry);

		const refused = { error: { outcome: 'unknown' } };
		expect(json).toMatchObject([refused, refused]);
		expect(account.sandbox.charges()).toBe(1);
	});
});
