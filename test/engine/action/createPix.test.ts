import mapValues from 'lodash/mapValues';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../sandbox';
import { CUSTOMER, pixParameters, useAccount } from '../../helpers/account';

describe('Transaction > Create PIX', () => {
	const account = useAccount();

	const parameters = (more: INodeParameters = {}): INodeParameters =>
		pixParameters(account.sandbox, more);
	const body = (): IDataObject | undefined => account.bodies()[0];
	const offerHash = (): string => account.sandbox.products[0]?.offers[0]?.hash ?? '';
	const cartWith = (item: INodeParameters): INodeParameters => ({
		cart: { items: [{ offerHash: 'offer1', price: '1', ...item }] },
	});

	test('charges the sum of the cart and returns the transaction as the platform sent it', async () => {
		const { json } = await account.run(parameters());

		expect(body()).toMatchObject({
			api_token: account.sandbox.bodyApiToken,
			amount: 3980,
			payment_method: 'pix',
			installments: 1,
			cart: [
				{
					offer_hash: offerHash(),
					price: 1990,
					quantity: 2,
					operation_type: 1,
					title: 'Curso de Fotografia',
				},
			],
			customer: {
				name: 'Maria da Silva',
				email: 'maria@example.com',
				phone_number: '11912345678',
				document: '52998224725',
			},
		});
		expect(account.sandbox.charges()).toBe(1);
		expect(json[0]).toHaveProperty('tracking_code');
		expect(json[0]).toMatchObject({
			hash: account.sandbox.transactions[0]?.hash,
			payment_status: 'waiting_payment',
			amount: 3980,
			billet: null,
		});
	});

	test('shows the code as the third column, when the charge was made, and last whether it is new', async () => {
		const { json } = await account.run(parameters({ simplify: true }));
		const columns = Object.keys(json[0] ?? {});

		expect(columns.slice(0, 3)).toEqual(['hash', 'payment_status', 'pix_qr_code']);
		expect(columns.slice(-2)).toEqual(['created_at', 'already_charged']);
	});

	test('leaves out blank fields and blank groups', async () => {
		account.fault('charge', { kind: 'status', status: 422 });
		await account.fail(
			parameters({
				customerPhone: ' ',
				cart: { items: [{ offerHash: 'offer1', price: '19,90', more: { title: '', cover: ' ' } }] },
				additionalFields: { tracking: { src: '', utmSource: '' } },
			}),
		);

		expect(body()).toEqual({
			api_token: account.sandbox.bodyApiToken,
			amount: 1990,
			payment_method: 'pix',
			installments: 1,
			cart: [{ offer_hash: 'offer1', price: 1990, quantity: 1, operation_type: 1 }],
			customer: {
				name: 'Maria da Silva',
				email: 'maria@example.com',
				document: '52998224725',
			},
		});
	});

	test.each([
		['customerName', 'Customer Name'],
		['customerEmail', 'Customer Email'],
		['customerDocument', 'Customer CPF or CNPJ'],
	])(
		'n8n marks %s as required, and an expression that gives nothing is refused',
		async (name, label) => {
			const left = parameters({ [name]: '' });
			await expect(account.run(left)).rejects.toThrow(`Parameter "${label}" is required.`);

			const failure = await account.fail(parameters({ [name]: '={{ " " }}' }));
			expect(failure.message).toBe(`${label} is empty: its expression returned nothing`);
			expect(account.sandbox.requests).toEqual([]);
		},
	);

	test('a customer that is blank is refused beside Custom Fields without a customer', async () => {
		const nobody = { customerName: '', customerEmail: ' ', customerDocument: '' };
		const customFields = { expire_in_days: 3 };

		const failure = await account.fail(
			parameters({ ...nobody, additionalFields: { customFields } }),
		);

		expect(failure.message).toBe('Customer Name is empty');
		expect(failure.description).toContain('This item was not sent.');
		expect(account.sandbox.requests).toEqual([]);
	});

	test.each([
		['blank', [' ', ' '], [1, 1]],
		['text', ['={{ "3" }}', '={{ "0" }}'], [3, 0]],
	] as const)('accepts quantity and operation type that are %s', async (_name, given, sent) => {
		const [quantity, operationType] = given;

		await account.run(
			parameters(
				cartWith({ offerHash: offerHash(), price: '2', quantity, more: { operationType } }),
			),
		);

		expect(body()).toMatchObject({
			amount: 200 * sent[0],
			cart: [{ quantity: sent[0], operation_type: sent[1] }],
		});
	});

	test('sends tracking, an amount of Custom Fields and a cover', async () => {
		await account.run(
			parameters({
				additionalFields: {
					customFields: { amount: 5000 },
					tracking: {
						src: 'instagram',
						utmSource: 'ads',
						utmCampaign: 'bf',
						utmContent: 'a',
						utmTerm: 'curso',
						utmMedium: 'cpc',
					},
				},
			}),
		);

		expect(body()).toMatchObject({
			amount: 5000,
			cart: [{ cover: 'https://cdn.example.com/curso.png' }],
			tracking: {
				src: 'instagram',
				utm_source: 'ads',
				utm_campaign: 'bf',
				utm_content: 'a',
				utm_term: 'curso',
				utm_medium: 'cpc',
			},
		});
	});

	test.each<[string, IDataObject[string], IDataObject | undefined]>([
		['two of one parameter', ['FB', 'FB'], { utm_source: 'FB' }],
		['a list with a blank', ['', 'FB'], { utm_source: 'FB' }],
		['a number', 12, { utm_source: '12' }],
		['nothing', [], undefined],
	])('tracking from the address of a page: %s', async (_name, utm, tracking) => {
		const { hints } = await account.run(
			parameters({ additionalFields: { tracking: { utmSource: '={{ $json.utm }}' } } }),
			{ items: [{ utm }] },
		);

		expect(body()?.tracking).toEqual(tracking);
		expect(hints).toEqual([]);
	});

	test.each<[string, IDataObject[string], string]>([
		['an object', { source: 'FB' }, 'be text'],
		['true', true, 'be text'],
		['a text longer than any', 'x'.repeat(200_000), 'have at most 10000 characters'],
		['a list of objects', [{ source: 'FB' }], 'be text'],
	])(
		'no charge fails for its tracking or title: %s is left out, with a hint',
		async (_name, utm, rule) => {
			const item = { offerHash: offerHash(), price: '1', more: { title: '={{ $json.utm }}' } };
			const { hints } = await account.run(
				parameters({
					cart: { items: [item] },
					additionalFields: { tracking: { src: 'a', utmSource: '={{ $json.utm }}' } },
				}),
				{ items: [{ utm }] },
			);

			expect(body()?.tracking).toEqual({ src: 'a' });
			expect(hints.map(({ message }) => message)).toEqual([
				`Cart > Item 1 > More > Title was left out, because it must ${rule}.`,
				`Additional Fields > Tracking > UTM Source was left out, because it must ${rule}.`,
			]);
		},
	);

	test('takes the customer from Custom Fields without checking it', async () => {
		account.fault('charge', { kind: 'status', status: 422 });
		const customer = { name: 'Maria', email: 'maria', phone_number: '12-34', document: '123' };
		const nobody = mapValues(CUSTOMER, () => '');

		await account.fail(parameters({ ...nobody, additionalFields: { customFields: { customer } } }));

		expect(body()).toMatchObject({ customer });
	});

	test.each<[string, Fault]>([
		['refused', { kind: 'refused' }],
		['not stated', { kind: 'patchBody', remove: ['pix', 'payment_status', 'amount'] }],
	])('shows a hint with the status if there is no PIX code: %s', async (status, fault) => {
		account.fault('charge', fault);

		const { hints, json } = await account.run(parameters());

		expect(hints.map(({ message }) => message)).toEqual([
			`Transaction ${String(json[0]?.hash)}: No PIX code was created; the payment status is ${status}.`,
		]);
	});

	test('returns the amount of the answer, even if it is another or missing', async () => {
		account.fault('charge', { kind: 'patchBody', set: { amount: 398_000 } });
		const other = await account.run(parameters());
		account.fault('charge', { kind: 'patchBody', set: { amount: null } });
		const none = await account.run(parameters());

		expect(other.json).toMatchObject([{ amount: 398_000 }]);
		expect(JSON.stringify(other.hints)).toContain('Its amount differs from the one');
		expect(none.json).toMatchObject([{ amount: null }]);
		expect(none.hints).toEqual([]);
	});

	test('the error of an unknown outcome names an amount without a cart', async () => {
		account.fault('charge', { kind: 'status', status: 500 });

		const failure = await account.fail(
			parameters({ cart: {}, additionalFields: { customFields: { amount: 500 } } }),
		);

		expect(failure.description).toContain(
			'Details: cart empty; amount R$ 5,00; customer document ending in 4725.\n',
		);
	});

	describe('Webhooks Go To', () => {
		test.each(['', 'ftp://example.com'])(
			'refuses the address "%s" before anything is sent, and says what to do',
			async (notificationUrl) => {
				const failure = await account.fail(parameters({ webhooksGoTo: 'url', notificationUrl }));

				expect(failure.message).toContain('Notification URL must be a complete web address');
				expect(failure.description).toMatch(
					/This item was not sent\.\nCorrect it, or change Webhooks/,
				);
				expect(failure.itemIndex).toBe(0);
				expect(account.sandbox.requests).toEqual([]);
			},
		);
	});

	test.each<[string, INodeParameters, string]>([
		['a quantity of nothing', cartWith({ quantity: 0 }), 'Cart > Item 1 > Quantity must be'],
		[
			'an operation type that is text',
			cartWith({ more: { operationType: 'x' } }),
			'Cart > Item 1 > More > Operation Type must',
		],
		[
			'a cover that is not an address',
			cartWith({ more: { cover: 'cover.png' } }),
			'Cart > Item 1 > More > Cover URL must be',
		],
		[
			'a cart whose sum is too large',
			{
				cart: {
					items: ['999999999,99', '0,01'].map((price) => ({
						offerHash: 'A1',
						price,
						more: { title: 'A' },
					})),
				},
			},
			'Cart adds up to R$ 1.000.000.000,00',
		],
		['an unknown choice in Webhooks Go To', { webhooksGoTo: 'pigeon' }, 'Webhooks Go To must be'],
	])('refuses %s by the name of the parameter and sends nothing', async (_name, wrong, message) => {
		const failure = await account.fail(parameters(wrong));

		expect(failure.message).toContain(message);
		expect(failure.description).toContain('This item was not sent.');
		expect(account.sandbox.requests).toEqual([]);
	});
});
