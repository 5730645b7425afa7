import type { INodeParameters } from 'n8n-workflow';
import * as fc from 'fast-check';
import { sequences } from '../../helpers/extent';
import { pixParameters } from '../../helpers/account';
import { useShop } from '../../helpers/charging';
import { callTool } from '../../helpers/tool';

describe('An expression that returns nothing', () => {
	const shop = useShop();

	const item = (more: INodeParameters): INodeParameters => {
		const offerHash = shop.account.sandbox.products[0]?.offers[0]?.hash ?? '';
		return { cart: { items: [{ offerHash, price: '19,90', ...more }] } };
	};
	const fields: Array<[string, (expression: string) => INodeParameters]> = [
		['Customer Name', (customerName) => ({ customerName })],
		['Customer Email', (customerEmail) => ({ customerEmail })],
		['Customer Phone', (customerPhone) => ({ customerPhone })],
		['Customer CPF or CNPJ', (customerDocument) => ({ customerDocument })],
		['Order Reference', (orderReference) => ({ orderReference })],
		['Cart > Item 1 > Price in Reais', (price) => item({ price })],
		['Cart > Item 1 > Quantity', (quantity) => item({ quantity })],
		['Cart > Item 1 > Offer', (value) => item({ offerHash: { __rl: true, mode: 'hash', value } })],
		['Cart > Item 1 > More > Operation Type', (operationType) => item({ more: { operationType } })],
		[
			'Additional Fields > Custom Fields',
			(customFields) => ({ additionalFields: { customFields } }),
		],
	];

	test.each(fields)('is refused before anything is sent: %s', async (label, fieldOf) => {
		for (const nothing of ['$json.missing', 'null', "''", "' '", "'\\u200b'", "'\\ufe0f'"]) {
			const failed = await shop.run(shop.parameters(undefined, fieldOf(`={{ ${nothing} }}`)));

			expect(failed.node?.error?.message).toBe(
				`${label} is empty: its expression returned nothing`,
			);
		}
		expect(shop.account.sandbox.requests).toEqual([]);
	});

	test('is refused for its item, and the others are sent under On Error: Continue', async () => {
		const parameters = shop.parameters('=order-{{ $json.id }}', {
			customerDocument: '={{ $json.document }}',
		});
		const items = [{ id: 1, document: '529.982.247-25' }, { document: '111.444.777-35' }];

		const stopped = await shop.run(parameters, { items });
		const went = await shop.run(parameters, { items, continueOnFail: true });

		expect(stopped.node?.error).toMatchObject({
			message: 'Order Reference is incomplete: {{ $json.id }} returned nothing',
			description: expect.stringContaining(
				'Correct the expression or the data, or clear the field.',
			),
			context: { itemIndex: 1 },
		});
		expect(JSON.stringify(went.json[1])).toContain('returned nothing');
		expect(shop.charges).toBe(1);
	});

	test.each([
		['a number too large to be exact', '90071992547409931', 'contains a number that is too large'],
		[
			'a value that is not a number',
			'Number($json.missing)',
			'is incomplete: {{ Number($json.missing) }} returned nothing',
		],
		['an object', '$json', 'is incomplete: {{ $json }} returned an object'],
	])('or %s, as a part of an Order Reference, is refused', async (_name, part, problem) => {
		const failed = await shop.run(shop.parameters(`=order-{{ ${part} }}`));

		expect(failed.node?.error?.message).toContain(`Order Reference ${problem}`);
		expect(shop.posts).toBe(0);
	});

	test.each([
		...["'order' + $json.id", '`order_${$json.id}-x`', "'maria ' + new Date($json.due)"],
		"'maria ' + DateTime.fromISO($json.due).toFormat('yyyy-MM')",
	])('inside the expression of an Order Reference is refused: %s', async (expression) => {
		const failed = await shop.run(shop.parameters(`={{ ${expression} }}`));

		expect(failed.node?.error?.message).toBe(
			'Order Reference is incomplete: a part of its expression returned nothing',
		);
		expect(shop.posts).toBe(0);
	});

	test.each([
		['price', '={{ $json.price }}', 'Price in Reais'],
		['paymentMethods', '={{ $json.methods }}', 'Payment Methods'],
		['title', '={{ $json.title }}', undefined],
	])('is refused in offers, except in the title: %s', async (name, expression, label) => {
		const run = await shop.run({
			resource: 'offer',
			operation: 'create',
			productHash: shop.account.sandbox.products[0]?.hash ?? '',
			title: 'Oferta',
			price: '19,90',
			[name]: expression,
		});

		expect(run.node?.error?.message).toBe(
			label === undefined ? undefined : `${label} is empty: its expression returned nothing`,
		);
	});

	test('is allowed in a field that does not decide whom and what to charge, like a blank field', async () => {
		const run = await shop.run(
			shop.parameters('', {
				...item({ price: '', quantity: '', more: { title: '={{ $json.title }}' } }),
				additionalFields: { tracking: { src: '={{ $json.src }}', utmTerm: '=a{{ $json.src }}' } },
			}),
		);

		expect(run.node?.error?.message).toBeUndefined();
		expect(shop.charges).toBe(1);
	});

	test("is allowed if an agent's model leaves a field blank, but not for the Order Reference", async () => {
		const model = (name: string): string => `={{ $fromAI('${name}', '', 'string') }}`;
		const call = async (more: INodeParameters) =>
			await callTool(
				pixParameters(shop.account.sandbox, { ...item({ price: model('price') }), ...more }),
				[{ price: '', phone: '', order: '' }],
				{ credentials: shop.account.credentials, workflowId: shop.workflowId },
			);
		const charged = await call({ customerPhone: model('phone') });
		const refused = await call({ orderReference: model('order') });

		expect(charged.errors).toEqual([]);
		expect(refused.errors.join()).toContain(
			'Order Reference is empty: its expression returned nothing',
		);
		expect(shop.charges).toBe(1);
	});

	test('is found in every part of every field, and nothing else is refused', async () => {
		// Only digits, so that each field is valid if all its parts are.
		const given = fc.constantFrom('7', '{{ 7 }}', "{{ '7' }}", '{{ 0 + 7 }}', "{{ '7'.trim() }}");
		const nothing = fc.constantFrom('undefined', 'null', "''", "' '", 'NaN', "'\\u200b'");
		const part = fc.oneof(
			given.map((text) => ({ text, isGap: false })),
			nothing.map((code) => ({ text: `{{ ${code} }}`, isGap: true })),
		);
		const template = fc.array(part, { minLength: 1, maxLength: 4 });
		const digits: Array<(value: string) => INodeParameters> = [
			(orderReference) => ({ orderReference }),
			(customerName) => ({ customerName }),
			(quantity) => item({ quantity }),
			(price) => item({ price }),
		];
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...digits), template, async (fieldOf, parts) => {
				shop.begin();
				const before = shop.posts;
				const expression = `=${parts.map(({ text }) => text).join('')}`;

				const run = await shop.run(
					shop.parameters(undefined, { ...item({}), ...fieldOf(expression) }),
				);

				const hasGap = parts.some(({ isGap }) => isGap);
				expect([run.status, shop.posts - before]).toEqual(hasGap ? ['error', 0] : ['success', 1]);
			}),
			{ numRuns: sequences(4, 100) },
		);
	});
});

describe('The customer of an agent', () => {
	const shop = useShop();

	const NOBODY = { customerName: '', customerEmail: '', customerPhone: '', customerDocument: '' };
	const chat = async (more: INodeParameters, calls = [{}], workflowId = shop.workflowId) =>
		await callTool(pixParameters(shop.account.sandbox, { ...NOBODY, ...more }), calls, {
			credentials: shop.account.credentials,
			workflowId,
		});

	// The sandbox requires the data of a customer, which the API document does not.
	const takesAnybody = (): void => {
		const body = { hash: 'abc1', payment_status: 'waiting_payment' };
		shop.account.fault('charge', { kind: 'status', status: 201, body }, 'always');
		shop.account.fault('read', { kind: 'status', status: 200, body }, 'always');
	};

	const own = (customer: INodeParameters) => ({ additionalFields: { customFields: { customer } } });

	test.each([
		['a document', { document: '52998224725' }],
		['an e-mail address', { email: 'maria@example.com' }],
		['a phone', { phone_number: '11912345678' }],
	])('with %s alone is charged, once', async (_name, customer) => {
		takesAnybody();
		const { answers, errors } = await chat(own(customer), [{}, {}]);

		expect(errors).toEqual([]);
		expect(answers).toMatchObject([[{ hash: 'abc1' }], [{ hash: 'abc1' }]]);
		expect(shop.posts).toBe(1);
	});

	test('needs no contact in a workflow without an agent', async () => {
		takesAnybody();
		await shop.charge({ more: { ...NOBODY, ...own({ name: 'Maria' }) } });

		expect(shop.posts).toBe(1);
	});
});
