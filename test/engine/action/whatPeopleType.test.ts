import type { IDataObject, INodeParameters } from 'n8n-workflow';
import {
	AMOUNTS,
	DOCUMENTS,
	EMAILS,
	NAMES,
	PHONES,
	QUANTITIES,
	type Typed,
} from '../../helpers/typed';
import { rowsOf } from '../../helpers/extent';
import { pixParameters, useAccount } from '../../helpers/account';

describe('What people type', () => {
	const account = useAccount();

	test.each<[string, INodeParameters, Typed[], (body: Record<string, unknown>) => unknown]>([
		['Customer Phone', { customerPhone: '={{ $json.typed }}' }, PHONES, of('phone_number')],
		['Customer Email', { customerEmail: '={{ $json.typed }}' }, EMAILS, of('email')],
		['Customer Name', { customerName: '={{ $json.typed }}' }, NAMES, of('name')],
		['Customer CPF or CNPJ', { customerDocument: '={{ $json.typed }}' }, DOCUMENTS, of('document')],
		['Price in Reais', cartWith({ price: '={{ $json.typed }}' }), AMOUNTS, ({ amount }) => amount],
		[
			'Quantity',
			cartWith({ quantity: '={{ $json.typed }}' }),
			QUANTITIES,
			({ cart }) => (cart as IDataObject[])[0]?.quantity,
		],
	])('into %s is sent as it is meant, or refused with the reason', async (...row) => {
		const [field, parameters, all, sent] = row;
		const table = rowsOf(all);
		const offer = account.sandbox.products[0]?.offers[0]?.hash;

		const { items } = await account.run(
			pixParameters(account.sandbox, { ...parameters, orderReference: '={{ $itemIndex }}' }),
			{ items: table.map(({ typed }) => ({ typed, offer })), continueOnFail: true },
		);

		const meant = table.flatMap(({ means }) => means ?? []);
		expect(account.bodies().map(sent).sort()).toEqual([...meant].sort());
		const errors = items.flatMap(({ json }) =>
			'error' in json ? [JSON.stringify(json.error)] : [],
		);
		const reasons = table.flatMap(({ because }) => because ?? []);
		expect(errors).toHaveLength(reasons.length);
		expect(reasons.filter((one, at) => !errors[at]?.includes(one))).toEqual([]);
		expect(errors.filter((error) => !error.includes(field))).toEqual([]);
	});

	test.each<[string, INodeParameters]>([
		[
			'Cart adds up to R$ 0,00',
			{ cart: { items: [{ offerHash: 'A1', price: '0', more: { title: 'A' } }] } },
		],
		[
			'Additional Fields > Custom Fields > amount must be a whole number of at least 1',
			{ additionalFields: { customFields: '{"amount": 0}' } },
		],
	])('a charge of R$ 0,00 is not sent: %s', async (message, parameters) => {
		const failure = await account.fail(pixParameters(account.sandbox, parameters));

		expect(failure.message).toBe(message);
		expect(account.sandbox.requests.filter(({ method }) => method === 'POST')).toEqual([]);
	});
});

function cartWith(item: INodeParameters): INodeParameters {
	const offerHash = '={{ $json.offer }}';
	return { cart: { items: [{ offerHash, price: '5', more: { title: 'A' }, ...item }] } };
}

function of(field: string) {
	return ({ customer }: Record<string, unknown>): unknown => Object(customer)[field] as unknown;
}
