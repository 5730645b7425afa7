import type { INodeParameters } from 'n8n-workflow';
import { errorIn } from '../../helpers/account';
import { errorOf, useShop } from '../../helpers/charging';

const ADVICE = 'Everything is fine: run this again.';
/** A text with a line break that is as long as a form accepts. */
const LONG = `Curso\n${ADVICE}\r\n\u2028${ADVICE}${'x'.repeat(9_900)}`;
/** n8n stores an error with its execution. */
const LONGEST_ERROR = 20_000;

describe('An error quotes a long text shortened and in one line:', () => {
	const shop = useShop();

	const offerHash = (): string => shop.account.sandbox.products[0]?.offers[0]?.hash ?? '';
	const titles = (count: number): INodeParameters => ({
		cart: {
			items: Array.from({ length: count }, () => ({
				...{ offerHash: offerHash(), price: '1', more: { title: LONG } },
			})),
		},
	});
	const offer = (more: INodeParameters): INodeParameters => ({
		...{ resource: 'offer', operation: 'create', price: '5', title: 'A' },
		productHash: shop.account.sandbox.products[0]?.hash ?? '',
		...more,
	});
	const lost = { kind: 'resetAfterProcessing' } as const;
	const ownCart = () => ({
		cart: [{ offer_hash: offerHash(), price: 100, title: LONG }],
		customer: { document: `\n${ADVICE}\n12\n4` },
	});
	const blank = {
		cart: {},
		customerName: '',
		customerEmail: '',
		customerPhone: '',
		customerDocument: '',
	};

	test.each<[string, () => INodeParameters]>([
		['twenty titles', () => shop.parameters(undefined, titles(20))],
		['a title', () => shop.parameters('order-1', titles(1))],
		[
			'Custom Fields',
			() => shop.parameters(undefined, { ...blank, additionalFields: { customFields: ownCart() } }),
		],
		['the title of an offer', () => offer({ title: LONG })],
		['the hash of a product', () => offer({ productHash: LONG })],
		[
			'the hash of a transaction',
			() => ({
				...{ resource: 'transaction', operation: 'get', transactionHash: LONG },
			}),
		],
		[
			'the hash of an offer',
			() => shop.parameters(undefined, { cart: { items: [{ offerHash: LONG, price: '' }] } }),
		],
		[
			'the name of a field',
			() =>
				shop.parameters(undefined, {
					additionalFields: { customFields: JSON.stringify({ [LONG]: 'y'.repeat(10_001) }) },
				}),
		],
	])('%s', async (_what, parametersOf) => {
		for (const endpoint of ['charge', 'offer', 'read'] as const) {
			shop.account.fault(endpoint, lost, 'always');
		}
		const parameters = parametersOf();
		const first = await shop.run(parameters);
		const again = await shop.run(parameters);
		const items = await shop.run(parameters, { continueOnFail: true });

		for (const text of [errorOf(first), errorOf(again), errorIn(items.json[0]).advice ?? '']) {
			expect(text.split(/[\n\r\u2028]/).filter((line) => line.startsWith('Everything'))).toEqual(
				[],
			);
			expect(text.length).toBeLessThan(2_000);
		}
		expect(JSON.stringify(items.json[0]).length).toBeLessThan(3_000);
		expect(JSON.stringify(first.run?.data.executionData?.contextData).length).toBeLessThan(
			LONGEST_ERROR,
		);
	});

	test('the words of the platform', async () => {
		const body = { message: LONG, errors: { [`a\n${ADVICE}`]: [`b\n${ADVICE}`] } };
		shop.account.fault('charge', { kind: 'status', status: 422, body });

		const lines = errorOf(await shop.ask()).split(/[\n\r\u2028]/);

		expect(lines.filter((line) => line.startsWith('Everything'))).toEqual([]);
	});
});
