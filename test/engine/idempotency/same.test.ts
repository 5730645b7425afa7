import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { CUSTOMER } from '../../helpers/account';
import { type Ask, customers, OWN_CUSTOMER, RETRY_ON_FAIL, useShop } from '../../helpers/charging';
import { crashedData } from '../../helpers/engine';
import { callTool } from '../../helpers/tool';

const ORDER = { order: 'order-1' };

describe('Which customers and charges count as the same', () => {
	const shop = useShop();
	const cartWith = (customFields: IDataObject) => ({
		items: [
			{
				offerHash: shop.offer,
				price: '19,90',
				more: { customFields: JSON.stringify(customFields) },
			},
		],
	});

	describe('for an agent:', () => {
		const call = async (more: INodeParameters = {}, credentials = shop.account.credentials) => {
			const parameters = shop.parameters(undefined, more);
			const { answers } = await callTool(parameters, [{}], { credentials, workflowId: 'chat' });
			return answers[0]?.[0];
		};

		test.each<[string, INodeParameters]>([
			['name', { customerName: 'M. DA SILVA' }],
			['spelling of the e-mail', { customerEmail: 'MARIA@example.com' }],
		])('a call with another %s is the same charge', async (_what, more) => {
			const first = await call();
			const second = await call(more);

			expect(second).toMatchObject({ hash: first?.hash, already_charged: true });
			expect(shop.charges).toBe(1);
		});

		test('a call with another address for webhooks is the same charge', async () => {
			const credentials = shop.account.credentialsWith({ notificationField: 'postback_url' });
			const notify = async (notificationUrl: string) =>
				await call({ webhooksGoTo: 'url', notificationUrl }, credentials);
			const first = await notify('https://one.example.com/');
			const second = await notify('https://two.example.com/');

			expect(second?.hash).toBe(first?.hash);
			expect(shop.charges).toBe(1);
		});

		test.each<[string, INodeParameters]>([
			['e-mail', { customerEmail: 'other@example.com' }],
			['phone', { customerPhone: '(21) 98765-4321' }],
			['tracking', { additionalFields: { tracking: { src: 'instagram' } } }],
			['custom field', { additionalFields: { customFields: '{"coupon": "X"}' } }],
		])('a call with another %s is another charge', async (_what, more) => {
			const first = await call();
			const second = await call(more);

			expect(first?.already_charged).toBe(false);
			expect(second?.hash).not.toBe(first?.hash);
			expect(second?.already_charged).toBe(false);
			expect(shop.charges).toBe(2);
		});

		test('a call with another custom field of an item is another charge', async () => {
			const first = await call({ cart: cartWith({ size: 'M' }) });
			const again = await call({ cart: cartWith({ size: 'M' }) });
			const second = await call({ cart: cartWith({ size: 'G' }) });

			expect([again, second].map((given) => given?.already_charged)).toEqual([true, false]);
			expect(again?.hash).toBe(first?.hash);
			expect(shop.charges).toBe(2);
		});
	});

	test.each([true, false])(
		'an item says whether its charge is new (Simplify: %s)',
		async (simplify) => {
			const first = await shop.charge({ ...ORDER, more: { simplify } });
			const second = await shop.charge({ ...ORDER, more: { simplify } });

			expect([first, second].map(({ json }) => json[0]?.already_charged)).toEqual([false, true]);
			expect(Object.keys(second.json[0] ?? {}).slice(0, 2)).toEqual(['hash', 'already_charged']);
		},
	);

	test.each<[string, boolean, Ask]>([
		['in the Retry that the error advises', true, {}],
		['with Retry On Fail', false, { settings: RETRY_ON_FAIL }],
	])(
		'items whose charges are made, but whose run failed, are new to the next nodes %s',
		async (_when, isRetry, more) => {
			const list = { more: OWN_CUSTOMER, items: customers(3), ...more };
			shop.fault('refuse', 2);
			const first = await shop.ask(list);
			const given = isRetry ? await shop.charge({ ...list, retrying: first }) : first;

			expect(given.json.map((item) => item.already_charged)).toEqual([false, false, false]);
			expect(shop.charges).toBe(3);
		},
	);

	test.each([
		['made it itself', [false, false]],
		['got it from an earlier execution', [true, true]],
	])('the Retry of an execution that crashed says the same as if it %s', async (_how, expected) => {
		if (expected[0]) await shop.charge(ORDER);
		const crashed = await shop.charge(ORDER);
		// A later execution gets the charge, too.
		await shop.charge(ORDER);
		const retryOf = crashedData(crashed.begun, [{ name: 'Digital Sales', finished: false }]);
		const again = await shop.charge({ ...ORDER, retryOf });

		expect([crashed, again].map(({ json }) => json[0]?.already_charged)).toEqual(expected);
		expect(shop.charges).toBe(1);
	});

	test('a hint names how an existing charge differs from its item', async () => {
		await shop.charge(ORDER);
		const same = await shop.charge({ ...ORDER, more: { customerEmail: 'MARIA@example.com' } });
		const more = { customerEmail: 'new@example.com', customerPhone: '(21) 98765-4321' };
		const other = await shop.charge({ ...ORDER, more });

		expect(JSON.stringify(same.hints)).not.toContain('another');
		expect(JSON.stringify(other.hints)).toContain(
			`Transaction ${shop.hashes[0]} was charged with another Customer Email and Customer Phone than this item has, and stays as it is.`,
		);
	});

	test.each<[string, Ask, boolean]>([
		['equal items', {}, true],
		['equal items, each with its own reference', { order: '={{ $itemIndex }}' }, false],
		['items of two customers', { items: customers(2), more: OWN_CUSTOMER }, false],
	])('a hint tells of a second charge in an execution: %s', async (_what, ask, isTold) => {
		const { hints } = await shop.charge({ items: [{}, {}], ...ask });

		expect(shop.charges).toBe(2);
		expect(JSON.stringify(hints).includes('one more charge for the same customer')).toBe(isTold);
	});

	describe('a hint about a new charge', () => {
		const answer = (set: IDataObject) => shop.account.fault('charge', { kind: 'patchBody', set });
		const hintsOf = async () => JSON.stringify((await shop.charge()).hints);

		test('says that its hash is that of an earlier charge', async () => {
			await shop.charge();
			answer({ hash: shop.hashes[0] });

			expect(await hintsOf()).toContain(
				`The transaction ${shop.hashes[0]} that was just made has the hash of an earlier charge.`,
			);
		});

		test('says that it has another document, and that it is paid already', async () => {
			answer({ customer: { document: '11144477735' }, payment_status: 'paid' });
			const hints = await hintsOf();

			expect(hints).toContain('is for another CPF or CNPJ');
			expect(hints).toContain('is paid already');
		});

		test('does not appear for a usual charge', async () => {
			answer({ customer: { document: CUSTOMER.customerDocument } });

			expect(await hintsOf()).not.toContain('that was just made');
		});
	});
});
