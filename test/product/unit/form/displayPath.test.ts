import type { INode, INodeParameters, INodeProperties } from 'n8n-workflow';
import { displayPath, fieldLabel } from '../../../../nodes/DigitalSales/form/readForm';

const text = (name: string, displayName: string, more: Partial<INodeProperties> = {}) => ({
	name,
	displayName,
	type: 'string' as const,
	default: '',
	...more,
});

const PROPERTIES: INodeProperties[] = [
	text('price', 'Price in Cents', { displayOptions: { hide: { unit: ['reais'] } } }),
	text('price', 'Price in Reais', { displayOptions: { show: { unit: ['reais'] } } }),
	text('hidden', 'Hidden', { displayOptions: { show: { unit: ['never'] } } }),
	{
		...text('cart', 'Cart'),
		type: 'fixedCollection',
		options: [{ name: 'items', displayName: 'Item', values: [text('title', 'Title')] }],
	},
	{ ...text('more', 'More'), type: 'collection', options: [text('note', 'Note')] },
	{ ...text('empty', 'Empty'), type: 'collection', options: undefined },
	{ ...text('methods', 'Methods'), type: 'multiOptions', options: [{ name: 'Card', value: 1 }] },
];

const node = (parameters: INodeParameters): INode => ({
	id: '1',
	name: 'Digital Sales',
	type: 'digitalSales',
	typeVersion: 1,
	position: [0, 0],
	parameters,
});

test.each<[Array<string | number>, INodeParameters, string]>([
	[['price'], {}, 'Price in Cents'],
	[['price'], { unit: 'reais' }, 'Price in Reais'],
	[['hidden'], {}, 'Hidden'],
	[['cart', 'items', 0, 'title'], {}, 'Cart > Item 1 > Title'],
	[['cart', 'items', 11], {}, 'Cart > Item 12'],
	[['more', 'note'], {}, 'More > Note'],
	[['methods', 2], {}, 'Methods 3'],
	[['methods', 'Card'], {}, 'Methods > Card'],
	[['empty', 'note'], {}, 'Empty > note'],
	[['strange'], {}, 'strange'],
	[['strange', 'title'], {}, 'strange > title'],
	[['price', 'title'], {}, 'Price in Cents > title'],
	[['cart', 'others', 1, 'title'], {}, 'Cart > others 2 > title'],
	[[], {}, ''],
])('%j with %j is called "%s"', (path, parameters, expected) => {
	expect(displayPath(PROPERTIES, path, node(parameters))).toBe(expected);
});

test.each([
	['cart.0.title', 'Cart > Item 1 > Title'],
	['cart.1st.title', undefined],
	['cart.title', undefined],
])("the service's field %s is called %j", (field, expected) => {
	const form = { properties: PROPERTIES, serviceFields: { 'cart.*.title': 'cart.items.*.title' } };

	expect(fieldLabel(form, field, node({}))).toBe(expected);
});
