import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import omit from 'lodash/omit';
import type { INodeParameters } from 'n8n-workflow';
import { sequences } from '../../helpers/extent';
import { pixParameters, useAccount } from '../../helpers/account';
import { cpf } from '../../helpers/charge';
import { ROOT } from '../../helpers/n8n/paths';

const GET_MANY = { resource: 'product', operation: 'getAll', limit: 3 };

describe('What is sent', () => {
	const account = useAccount();

	const offerAt = (index: number): string => account.sandbox.products[index]?.offers[0]?.hash ?? '';

	describe('from Custom Fields', () => {
		const charge = (
			customFields: INodeParameters | string,
			more: INodeParameters = {},
		): INodeParameters =>
			pixParameters(account.sandbox, { ...more, additionalFields: { customFields } });

		test('a cart determines the amount if the form has none', async () => {
			const line = { offer_hash: offerAt(0), price: 2990, quantity: 2 };

			await account.run(charge({ cart: [line] }, { cart: {} }));

			expect(account.bodies()).toMatchObject([{ amount: 5980 }]);
			expect(account.bodies()[0]?.cart).toEqual([line]);
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
			const failure = await account.fail(charge(`={{ ({ ${fields} }) }}`, { cart: {} }));

			expect(failure.message).toMatch(
				new RegExp(`^Additional Fields > Custom Fields > ${label} (is|must)`),
			);
			expect(failure.description).toContain('are in cents');
			expect(account.sandbox.requests).toEqual([]);
		});

		test.each([
			['cart 1 > price', [{ offer_hash: 'a' }]],
			[
				'cart 2 > price',
				[
					{ title: 'A', price: 100 },
					{ title: 'B', price: null },
				],
			],
		])('without any amount is refused if %s is missing', async (label, list) => {
			const failure = await account.fail(charge({ cart: list }, { cart: {} }));

			expect(failure.message).toBe(`Additional Fields > Custom Fields > ${label} is empty`);
			expect(failure.description).toContain('Enter the price.');
			expect(account.sandbox.requests).toEqual([]);

			await account.run(charge({ cart: list, amount: 500 }, { cart: {} }), {
				continueOnFail: true,
			});
			expect(account.bodies()).toMatchObject([{ amount: 500, cart: list }]);
		});

		const HOLE = ' contains a field whose expression returned nothing';

		test.each<[string, INodeParameters | string, string]>([
			['an infinite number', '={{ ({ expire_in_days: 1e999 }) }}', HOLE],
			['a value that is missing', '={{ ({ customer: { document: $json.missing } }) }}', HOLE],
			[
				'a text that is too long',
				{ customer: { notes: ['short', 'x'.repeat(10_001)] } },
				' must have at most 10000 characters',
			],
		])('with %s is refused', async (_name, customFields, problem) => {
			const failure = await account.fail(charge(customFields));

			expect(failure.message).toBe(`Additional Fields > Custom Fields${problem}`);
			expect(account.sandbox.requests).toEqual([]);
		});

		test('never contains a token from the form', async () => {
			const failure = await account.fail(charge({ api_token: 'test-other-token' }));

			expect(failure.message).toBe(
				'Additional Fields > Custom Fields must not contain api_token: enter the token as Second API Token in the credential',
			);
			expect(account.sandbox.requests).toEqual([]);
		});
	});

	describe('to a platform with other names', () => {
		const url = 'https://n8n.example.com/hook';
		const line = (own: object, more: INodeParameters = {}): INodeParameters => ({
			items: [{ offerHash: offerAt(0), ...more, more: { customFields: JSON.stringify(own) } }],
		});

		test('contains Custom Fields, in the body and in an item of the cart', async () => {
			const additionalFields = { customFields: { offer_hash: offerAt(0) } };
			const cart = line({ product_hash: 'prod1' }, { price: '19,90' });

			await account.run(pixParameters(account.sandbox, { additionalFields, cart }));

			const own = { product_hash: 'prod1', price: 1990 };
			expect(account.bodies()).toMatchObject([{ offer_hash: offerAt(0), cart: [own] }]);
		});

		test.each([
			['', { webhook_url: url }],
			[' postback_url ', { webhook_url: url, postback_url: url }],
			['webhook_url', { webhook_url: url }],
		])('has the address under the Notification Field %j', async (notificationField, expected) => {
			const parameters = pixParameters(account.sandbox, {
				webhooksGoTo: 'url',
				notificationUrl: url,
			});

			await account.run(parameters, {
				credentials: account.credentialsWith({ notificationField }),
			});

			const [body] = account.bodies();
			const names = Object.keys(body ?? {}).filter((name) => body?.[name] === url);
			expect(names.sort()).toEqual(Object.keys(expected).sort());
		});

		test('has what docs/troubleshooting.md promises, and nothing else, after its three steps', async () => {
			const page = readFileSync(path.join(ROOT, 'docs/troubleshooting.md'), 'utf8');
			const steps = [...page.matchAll(/^\d\. .*: `(.+)`$/gm)].map(([, typed = '']) => typed);
			const [customFields = '', item = '', notificationField = ''] = steps;
			const promised: unknown = JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? '');
			const pix = (more: INodeParameters): INodeParameters =>
				pixParameters(account.sandbox, { webhooksGoTo: 'url', notificationUrl: url, ...more });
			await account.run(pix({}));

			await account.run(
				pix({
					additionalFields: { customFields },
					cart: line(JSON.parse(item) as object, { price: '19,90', quantity: 2 }),
				}),
				{ credentials: account.credentialsWith({ notificationField }) },
			);

			const [usual, sent] = account
				.bodies()
				.map(({ cart, ...body }) => ({ cart: [cart].flat(), body }));
			const added = {
				...omit(sent?.body, Object.keys(usual?.body ?? {})),
				cart: sent?.cart.map((one, at) => omit(Object(one), Object.keys(Object(usual?.cart[at])))),
			};
			expect(added).toEqual({
				offer_hash: 'hash of your offer',
				postback_url: url,
				cart: [{ product_hash: 'hash of your product' }],
			});
			const withoutValues = (text: unknown): unknown =>
				JSON.parse(JSON.stringify(text).replace(/:"[^"]*"/g, ':""'));
			expect(withoutValues(added)).toEqual(withoutValues(promised));
		});

		test('has the Notification Field also for the address that Automatic finds', async () => {
			const credentials = account.credentialsWith({
				notificationField: 'postback_url',
				notificationUrl: url,
			});

			await account.run(pixParameters(account.sandbox, { webhooksGoTo: 'automatic' }), {
				credentials,
			});

			expect(account.bodies()).toMatchObject([{ webhook_url: url, postback_url: url }]);
		});

		test('has no Notification Field if nobody is notified', async () => {
			const credentials = account.credentialsWith({ notificationField: 'postback_url' });

			await account.run(pixParameters(account.sandbox, { webhooksGoTo: 'none' }), { credentials });

			expect(account.bodies()[0]).not.toHaveProperty('postback_url');
		});
	});

	test('matches the form and passes every check, whatever the catalog contains', async () => {
		const cents = fc.constantFrom(1990, 199_000);
		const amount = fc.constantFrom(undefined, 1990, 3980, 199_000, 398_000);
		const line = fc.record({
			offer: fc.constantFrom(0, 1),
			price: fc.constantFrom(undefined, 1990, 199_000),
			quantity: fc.constantFrom(1, 2),
		});
		const step = fc.record({
			/** In the catalog from then on, which is read, or not. */
			prices: fc.tuple(cents, cents),
			isRead: fc.boolean(),
			lines: fc.array(line, { minLength: 1, maxLength: 2 }),
			/** Whether Custom Fields have the cart. */
			isOwn: fc.boolean(),
			/** Of Custom Fields. */
			amount,
			isAllowed: fc.boolean(),
		});
		const typed = (price: number | undefined): string =>
			price === undefined ? '' : (price / 100).toFixed(2).replace('.', ',');
		const isHundredfold = (one: number | undefined, other: number): boolean =>
			one !== undefined && (one === other * 100 || one * 100 === other);

		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
				account.reset();
				let seen: number[] = [];
				for (const [nth, { prices, lines, ...asked }] of steps.entries()) {
					const offers = prices.map((price, at) => ({ hash: offerAt(at), title: 'A', price }));
					account.sells({ hash: 'p1', title: 'Curso', offers });
					if (asked.isRead) await account.run(GET_MANY);
					const ownCart = lines.map(({ offer, ...more }) => ({
						offer_hash: offerAt(offer),
						...more,
					}));
					const { length } = account.sandbox.requests;

					await account.run(
						pixParameters(account.sandbox, {
							cart: {
								items: (asked.isOwn ? [] : lines).map(({ offer, price, quantity }) => ({
									offerHash: offerAt(offer),
									price: typed(price),
									quantity,
									more: { title: 'A' },
								})),
							},
							customerDocument: cpf(123_456_000 + nth),
							additionalFields: {
								customFields: JSON.stringify({
									cart: asked.isOwn ? ownCart : undefined,
									amount: asked.amount,
								}),
							},
							options: { allowPriceMismatch: asked.isAllowed },
						}),
						{ continueOnFail: true },
					);

					const sent = account.sandbox.requests.slice(length);
					if (asked.isRead || sent.some(({ method }) => method === 'GET')) seen = prices;
					// A cart of Custom Fields is not filled in.
					const filled = lines.map((one) => ({ ...one, price: one.price ?? seen[one.offer] }));
					const wanted = asked.isOwn ? lines : filled;
					const total = wanted.reduce((sum, one) => sum + (one.price ?? NaN) * one.quantity, 0);
					const charged = asked.amount ?? (Number.isNaN(total) ? undefined : total);
					const isWrong = wanted.some(({ price, offer }) =>
						isHundredfold(price, seen[offer] ?? NaN),
					);
					const isHeld = charged === undefined || (isWrong && !asked.isAllowed);
					const body = {
						cart: wanted.map(({ offer, price, quantity }) => ({
							offer_hash: offerAt(offer),
							...(price !== undefined && { price }),
							quantity,
						})),
						amount: charged,
					};
					expect(sent.filter(({ method }) => method === 'POST')).toMatchObject(
						isHeld ? [] : [{ body }],
					);
				}
			}),
			{ numRuns: sequences(1) },
		);
	}, 60_000);
});
