import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { openAccount, pixParameters, type Account } from '../support/account';

const CATALOG = 'GET /products';

describe('The cart of Create PIX', () => {
	let account: Account;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(() => account.reset());
	afterAll(async () => await account.sandbox.close());

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

	test('keeps what was typed', async () => {
		const { cover, offer } = product(1);

		await account.run(cart({ ...picked(offer.hash), price: '7', title: 'Meu título' }));

		expect(bodies()).toMatchObject([
			{ amount: 7, cart: [{ price: 7, title: 'Meu título', cover }] },
		]);
	});

	test.each([
		['nothing is blank', { price: '7', title: 'A', cover: 'https://example.com/a.png' }, {}],
		['it is switched off', {}, { options: { fillFromCatalog: false } }],
	])('asks nothing where %s', async (_name, item, more) => {
		await account
			.run({ ...cart({ ...picked(product(0).offer.hash), ...item }), ...more })
			.catch(() => undefined);

		expect(methods()).toEqual(['POST']);
	});

	test('asks once for all items of a run and for the next run', async () => {
		const offers = [0, 1, 2, 90].map((index) => product(index).offer);
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
			{ items: [{ price: '' }, { price: 'cheap' }] },
		);

		expect(failure.itemIndex).toBe(1);
		expect(account.sandbox.requests).toEqual([]);
	});

	test.each([
		['fails', { endpoint: CATALOG, kind: 'status', status: 500, times: 'always' }],
		['is cut short', { endpoint: CATALOG, kind: 'truncatedBody', times: 'always' }],
		['answers with a page', { endpoint: CATALOG, kind: 'html', times: 'always' }],
		['is limited', { endpoint: CATALOG, kind: 'retryAfter', seconds: 60, times: 'always' }],
	] as const)('charges without the catalog where that %s, and says so', async (_name, fault) => {
		account.sandbox.addFault(fault);

		const { hints } = await account.run(
			cart({ ...picked(product(0).offer.hash), price: '500', title: 'Curso' }),
			{ items: [{}, {}, {}] },
		);

		expect(bodies().map(({ amount }) => amount)).toEqual([500, 500, 500]);
		expect(JSON.stringify(hints)).toContain(
			'could not be looked up in the catalog just now, so Cover URL stayed blank',
		);
		expect(methods().filter((method) => method === 'GET')).toHaveLength(1);
	});

	test('says where the catalog does not hold the offer', async () => {
		const failure = account.run(cart({ ...picked('unknown1', 'hash'), price: '500' }));
		await failure.catch(() => undefined);

		expect(bodies()).toMatchObject([{ cart: [{ offer_hash: 'unknown1', price: 500 }] }]);
	});

	describe('By URL', () => {
		const address = (more = ''): string => product(3).offer.url + more;

		test.each(['', '/', '?utm_source=ads', '#top'])(
			'finds the offer of a checkout address%s',
			async (more) => {
				await account.run(cart(picked(address(more), 'url')));

				expect(bodies()).toMatchObject([
					{ amount: product(3).offer.price, cart: [{ offer_hash: product(3).offer.hash }] },
				]);
			},
		);

		test('believes the catalog more than the path', async () => {
			product(3).offer.url = 'https://pay.example.com/curso-de-fotografia';

			await account.run(cart(picked('http://www.pay.example.com/curso-de-fotografia', 'url')));

			expect(bodies()).toMatchObject([{ cart: [{ offer_hash: product(3).offer.hash }] }]);
		});

		test('takes the last part of the path where the catalog knows no better', async () => {
			const { hash } = product(3).offer;

			await account.run({
				...cart({ ...picked(`https://other.example.com/buy/${hash}?a=1`, 'url'), price: '5' }),
				options: { fillFromCatalog: false },
			});

			expect(bodies()).toMatchObject([{ cart: [{ offer_hash: hash }] }]);
		});

		test('refuses an address without a path', async () => {
			const failure = await account.fail(cart(picked('={{ "https://example.com/" }}', 'url')));

			expect(failure.message).toContain('Cart > Item 1 > Offer is an address with no hash in it');
			expect(account.sandbox.requests).toEqual([]);
		});

		test('finds the product of a sale page for a new offer', async () => {
			const { hash } = product(4);
			const target = account.sandbox.products[4];
			if (target) target.sale_page = 'https://www.example.com/escola/fotografia';

			await account.run({
				resource: 'offer',
				operation: 'create',
				productHash: {
					__rl: true,
					mode: 'url',
					value: 'https://example.com/escola/fotografia/?src=insta',
				},
				title: 'Oferta',
				price: '100',
			});

			expect(account.sandbox.requests.at(-1)?.path).toContain(`/products/${hash}/offers`);
		});
	});
});
