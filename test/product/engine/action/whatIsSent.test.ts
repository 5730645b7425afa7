import * as fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { runNode } from '../harness';
import { pixParameters, useAccount } from '../support/account';
import { cpf } from '../../../support/charge';
import { codeIn } from '../support/charging';

const GET_MANY = { resource: 'product', operation: 'getAll', limit: 3 };
const SHOP = { mode: 'trigger', workflowId: 'shop' } as const;

describe('What is sent', () => {
	const account = useAccount();

	const offerAt = (index: number): string => account.sandbox.products[index]?.offers[0]?.hash ?? '';
	const known = (): string => offerAt(0);
	const bodies = (): IDataObject[] =>
		account.sandbox.requests
			.filter(({ method }) => method === 'POST')
			.map(({ body }) => body as IDataObject);
	/** What the catalog holds from now on. */
	const sells = (...data: IDataObject[]): void => {
		const set = { data, meta: { last_page: 1 }, links: { next: null } };
		account.sandbox.clearFaults();
		account.fault('list', { kind: 'patchBody', set }, 'always');
	};
	const seen = async (price: number): Promise<void> => {
		sells({ hash: 'p1', title: 'Curso', offers: [{ hash: known(), price }] });
		await account.run(GET_MANY);
	};
	const charge = (
		customFields: IDataObject,
		item: INodeParameters = {},
		more: INodeParameters = {},
	): INodeParameters => ({
		...pixParameters(account.sandbox, {
			cart: {
				items: [{ offerHash: known(), price: '19,90', quantity: 2, more: { title: 'A' }, ...item }],
			},
		}),
		...more,
		additionalFields: {
			...(more.additionalFields as INodeParameters),
			customFields: JSON.stringify(customFields),
		},
	});

	describe('from Custom Fields', () => {
		const line = (more: IDataObject = {}): IDataObject => ({
			offer_hash: known(),
			price: 2990,
			quantity: 2,
			...more,
		});

		test('adds up to the amount, a list replaced as a whole', async () => {
			await account.run(charge({ cart: [line()] }));

			expect(bodies()).toMatchObject([{ amount: 5980 }]);
			expect(bodies()[0]?.cart).toEqual([line()]);
		});

		test.each([
			['amount', 'amount: $json.missing ?? null'],
			['amount', "amount: '39,80'"],
			['amount', 'amount: -3980'],
			['cart 1 > price', 'cart: [{ price: 19.9 }]'],
			['cart 2 > price', "cart: [{ price: 1990 }, { price: '19,90' }]"],
			['cart 1 > quantity', 'cart: [{ price: 1990, quantity: 1.5 }]'],
			['cart 1', "cart: ['A1']"],
			['cart', 'cart: { price: 1990 }'],
		])('with %s that cannot be checked is refused: %s', async (label, fields) => {
			const failure = await account.fail({
				...charge({}, {}, { cart: {} }),
				additionalFields: { customFields: `={{ ({ ${fields} }) }}` },
			});

			expect(failure.message).toMatch(
				new RegExp(`^Additional Fields > Custom Fields > ${label} (is|must)`),
			);
			expect(failure.description).toContain('are in cents');
			expect(account.sandbox.requests).toEqual([]);
		});

		test.each([
			...['expire_in_days: 1e999', 'expire_in_days: () => 5', 'expire_in_days: $json.missing'],
			'customer: { document: $json.missing }',
		])('with what JSON cannot say is refused: %s', async (field) => {
			const failure = await account.fail({
				...charge({}),
				additionalFields: { customFields: `={{ ({ ${field} }) }}` },
			});

			expect(failure.message).toBe(
				'Additional Fields > Custom Fields has a field for which its expression gave nothing',
			);
			expect(account.sandbox.requests).toEqual([]);
		});

		test('with a text that is too long are refused, and the error names the field within', async () => {
			const customFields = { customer: { notes: ['short', 'x'.repeat(10_001)] } };
			const failure = await account.fail({ ...charge({}), additionalFields: { customFields } });

			expect(failure.message).toMatch(
				/^Additional Fields > Custom Fields.* must have at most 10000 /,
			);
			expect(account.sandbox.requests).toEqual([]);
		});

		test('nested too deeply are refused by name', async () => {
			const customFields = `{"a":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
			const failure = await account.fail({ ...charge({}), additionalFields: { customFields } });

			expect(failure.message).toBe('Additional Fields > Custom Fields is nested too deeply');
		});

		test.each<[INodeParameters, number[]]>([
			[{ payment_methods: [3] }, [3]],
			[{ payment_methods: [] }, []],
		])('replaces the payment methods of an offer: %j', async (customFields, sent) => {
			await account.run({
				resource: 'offer',
				operation: 'create',
				productHash: account.sandbox.products[0]?.hash ?? '',
				title: 'Oferta',
				price: '19,90',
				paymentMethods: [1, 2, 3],
				additionalFields: { customFields },
			});

			expect(bodies()).toMatchObject([{ payment_methods: sent }]);
		});

		test.each<[string, () => IDataObject, string, number]>([
			[
				'an amount',
				() => ({ amount: 398_000 }),
				'amount is R$ 3.980,00, but the cart adds up to R$ 39,80',
				3980,
			],
			[
				'a price in its cart',
				() => ({ amount: 1990, cart: [line({ price: 199_000, quantity: 1 })] }),
				'cart 1 > price is R$ 1.990,00, but the catalog last said R$ 19,90',
				1990,
			],
		])('is refused for a hundredfold: %s', async (_name, customFields, problem, right) => {
			await seen(1990);

			const failure = await account.fail(charge(customFields()));

			expect(failure.message).toBe(`Additional Fields > Custom Fields > ${problem}`);
			expect(failure.description).toContain(`Enter ${right}, or add`);
			expect(bodies()).toEqual([]);
		});

		test('does not keep a price of the form from being compared', async () => {
			await seen(1990);

			const failure = await account.fail(charge({ amount: 995_000 }, { price: '1990' }));

			expect(failure.message).toContain('Cart > Item 1 > Price in Reais is R$ 1.990,00');
			expect(bodies()).toEqual([]);
		});

		test('is another account if it brings another token, and knows nothing of the first', async () => {
			const order = (token: string) =>
				charge({ api_token: token }, {}, { orderReference: 'order-1' });
			await account.run(order(account.sandbox.bodyApiToken), SHOP);
			const other = await account.fail(order('test-other-token'), SHOP);

			expect(other.message).toContain('does not accept');
			expect(bodies()).toHaveLength(2);
		});
	});

	describe('of a charge that was allowed to be made again', () => {
		const order = (options: INodeParameters = {}): INodeParameters =>
			charge({}, { price: '100,00' }, { orderReference: 'order-1', options });

		/** Each gives the code to charge again, if there is one. */
		const makeVoid = async (): Promise<string> => {
			const { json } = await account.run(order(), SHOP);
			await account.sandbox.setStatus(String(json[0]?.hash), 'expired');
			return '';
		};
		const leaveInDoubt = async (): Promise<string> => {
			account.fault('charge', { kind: 'resetAfterProcessing' });
			await account.fail(order(), SHOP);
			return codeIn(await runNode(order(), { credentials: account.credentials, ...SHOP }));
		};

		test.each([
			['an order that is void', makeVoid],
			['a doubt with its code', leaveInDoubt],
		])('is compared: %s', async (_name, before) => {
			const repeatCode = await before();
			await seen(100);

			const failure = await account.fail(order({ repeatCode }), SHOP);
			const allowed = await account.run(order({ repeatCode, allowPriceMismatch: true }), SHOP);

			expect(failure.message).toContain('is R$ 100,00, but the catalog last said R$ 1,00');
			expect(allowed.json).toHaveLength(1);
			expect(bodies()).toHaveLength(2);
		});
	});

	test('is told beside what the service answers, if that is another amount', async () => {
		account.fault('charge', { kind: 'patchBody', set: { amount: 398_000 }, remove: ['pix'] });

		const { json, hints } = await account.run(charge({}));

		expect(json).toMatchObject([{ amount: 398_000 }]);
		expect(JSON.stringify(hints)).toContain(
			`charges R$ 3.980,00 with transaction ${String(json[0]?.hash)}, but R$ 39,80 was sent`,
		);
	});

	describe('from the catalog', () => {
		const blank = (): INodeParameters =>
			pixParameters(account.sandbox, { cart: { items: [{ offerHash: known() }] } });

		test('is the price of the product that is sold, if an inactive one has the same offer', async () => {
			sells(
				{ hash: 'old', status: 2, title: 'Velho', offers: [{ hash: known(), price: 4700 }] },
				{ hash: 'new', status: 1, title: 'Novo', offers: [{ hash: known(), price: 9700 }] },
				{ hash: 'older', status: 2, title: 'Velho', offers: [{ hash: known(), price: 700 }] },
			);

			await account.run(blank());

			expect(bodies()).toMatchObject([{ amount: 9700, cart: [{ price: 9700, title: 'Novo' }] }]);
		});

		test('is no price if two products that are sold have the offer at two prices', async () => {
			sells(
				{ hash: 'p1', title: 'A', offers: [{ hash: known(), price: 4700 }] },
				{ hash: 'p2', title: 'B', offers: [{ hash: known(), price: 9700 }] },
			);

			const failure = await account.fail(blank());

			expect(failure.message).toContain('Cart > Item 1 > Offer fits several');
			expect(failure.description).toContain('R$ 47,00');
			expect(bodies()).toEqual([]);
		});

		test('is the price that was read last, whoever read it', async () => {
			await seen(4700);
			await account.run(blank());
			await seen(9700);

			await account.run({ ...blank(), customerDocument: '111.444.777-35' });

			expect(bodies()).toMatchObject([{ amount: 4700 }, { amount: 9700 }]);
		});
	});

	test('passes every check, whatever was asked, answered, voided or allowed before', async () => {
		const cents = fc.constantFrom(1990, 199_000);
		const line = fc.record({
			offer: fc.constantFrom(0, 1),
			price: fc.option(cents, { nil: undefined }),
			quantity: fc.constantFrom(1, 2),
		});
		const form = fc.record(
			{
				lines: fc.array(line, { minLength: 1, maxLength: 2 }),
				amount: fc.option(fc.constantFrom(3980, 398_000, 1990, 199_000), { nil: undefined }),
				own: fc.record(
					{
						cart: fc.array(line, { maxLength: 2 }),
						amount: fc.constantFrom(3980, 398_000, 1990, 199_000),
					},
					{ requiredKeys: [] },
				),
				order: fc.option(fc.constantFrom('order-1', 'order-2'), { nil: undefined }),
			},
			{ noNullPrototype: true },
		);
		const step = fc.record(
			{
				form,
				// Most often the same is asked for again, with another catalog.
				isAgain: fc.constantFrom(true, true, true, false),
				catalog: fc.tuple(cents, cents),
				isRead: fc.boolean(),
				isAllowed: fc.boolean(),
				answer: fc.constantFrom('made', 'lost', 'lost', 'refused', 'another amount'),
				isVoidLater: fc.boolean(),
			},
			{ noNullPrototype: true },
		);
		const typed = (price: number | undefined): string =>
			price === undefined ? '' : (price / 100).toFixed(2).replace('.', ',');
		const isHundredfold = (one: number, other: number): boolean =>
			one !== 0 && (one === other * 100 || one * 100 === other);
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
				account.reset();
				const seenPrices = new Map<string, number>();
				let code = '';
				let customer = 0;
				let asked = steps[0]?.form;
				for (const { catalog, isAllowed, answer, ...more } of steps) {
					if (!asked || !more.isAgain) asked = more.form;
					const { lines, own, order } = asked;
					const offers = catalog.map((price, at) => ({ hash: offerAt(at), title: 'A', price }));
					sells({ hash: 'p1', title: 'Curso', offers });
					if (answer === 'lost') account.fault('charge', { kind: 'resetAfterProcessing' });
					if (answer === 'refused') account.fault('charge', { kind: 'status', status: 422 });
					const set = { amount: 777 };
					if (answer === 'another amount') account.fault('charge', { kind: 'patchBody', set });
					const { length } = account.sandbox.requests;
					if (more.isRead) await account.run(GET_MANY);
					const ownCart = own.cart?.map(({ offer, price, quantity }) => ({
						offer_hash: offerAt(offer),
						quantity,
						...(price !== undefined && { price }),
					}));
					const customFields = {
						...(ownCart && { cart: ownCart }),
						...(own.amount !== undefined && { amount: own.amount }),
					};
					const parameters = pixParameters(account.sandbox, {
						cart: {
							items: lines.map(({ offer, price, quantity }) => ({
								offerHash: offerAt(offer),
								price: typed(price),
								quantity,
								more: { title: 'A' },
							})),
						},
						customerDocument: cpf(order ? 1 : 1_000 + customer++),
						orderReference: order ?? '',
						additionalFields: {
							amount: typed(asked.amount),
							customFields: JSON.stringify(customFields),
						},
						options: { allowPriceMismatch: isAllowed, repeatCode: code },
					});

					const run = await runNode(parameters, { credentials: account.credentials, ...SHOP });

					const sent = account.sandbox.requests.slice(length);
					if (sent.some(({ path }) => path.endsWith('/products'))) {
						for (const { hash, price } of offers) seenPrices.set(hash, price);
					}
					const cart: IDataObject[] =
						ownCart ??
						lines.map(({ offer, price, quantity }) => ({
							offer_hash: offerAt(offer),
							quantity,
							price: price ?? seenPrices.get(offerAt(offer)),
						}));
					const sums = cart.map(({ price, quantity }) => Number(price ?? NaN) * Number(quantity));
					const total = sums.length === 0 ? NaN : sums.reduce((sum, one) => sum + one, 0);
					const amount = own.amount ?? asked.amount ?? (Number.isNaN(total) ? undefined : total);
					// What is not priced is compared by what was seen of it.
					const seenTotal = cart.reduce(
						(sum, { price, quantity, offer_hash: hash }) =>
							sum + Number(price ?? seenPrices.get(String(hash)) ?? NaN) * Number(quantity),
						0,
					);
					const isWrong =
						!isAllowed &&
						(cart.some(({ price, offer_hash: hash }) =>
							isHundredfold(Number(price ?? NaN), seenPrices.get(String(hash)) ?? NaN),
						) ||
							(amount !== undefined && cart.length > 0 && isHundredfold(amount, seenTotal)));
					const posts = sent.filter(({ method }) => method === 'POST');
					const wanted = { cart, ...(amount !== undefined && { amount }) };
					expect(posts.length).toBeLessThanOrEqual(1);
					expect([posts.length, isWrong]).not.toEqual([1, true]);
					expect(posts.map(({ body }) => body)).toMatchObject(posts.map(() => wanted));
					const isOther = answer === 'another amount' && run.status === 'success';
					const isTold = JSON.stringify(run.hints).includes('charges R$ 7,77');
					expect([posts.length, isOther, isTold]).not.toEqual([1, true, false]);
					// Nothing that is right is held back for a reason of these checks.
					const isHeld = isWrong || (cart.length === 0 && amount === undefined);
					expect([order, posts.length]).not.toEqual([undefined, isHeld ? 1 : 0]);
					code = codeIn(run) || code;
					if (more.isVoidLater) {
						for (const { hash } of account.sandbox.transactions) {
							await account.sandbox.setStatus(hash, 'expired');
						}
					}
				}
			}),
			{ numRuns: 20 },
		);
	}, 60_000);
});
