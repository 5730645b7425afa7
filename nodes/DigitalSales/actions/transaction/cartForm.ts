import type { INodeProperties } from 'n8n-workflow';
import { moneyProperties } from '../../form/amountUnit';
import { offerLocator } from '../../form/locators';

/** In the order in which a person fills them in; what is seldom needed comes last. */
const itemFields: INodeProperties[] = [
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		placeholder: 'e.g. Curso de Fotografia',
		description:
			'The name of the item as the customer sees it. Left blank, it comes from the catalog.',
	},
	...moneyProperties({
		name: 'price',
		label: 'Price',
		description: 'The price of one piece. Left blank, it comes from the catalog.',
	}),
	{
		displayName: 'Quantity',
		name: 'quantity',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1,
		description: 'How many pieces are bought',
	},
	{
		displayName: 'Cover URL',
		name: 'cover',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/cover.png',
		description:
			'Address of a picture of the item. Left blank, it comes from the catalog if Title or Price is looked up there.',
	},
	{
		displayName: 'Operation Type',
		name: 'operationType',
		type: 'number',
		typeOptions: { numberPrecision: 0 },
		default: 1,
		description:
			'A code of the service for the kind of sale. Its values are not documented; 1 is what every known call sends.',
	},
];

const blanksNotice: INodeProperties = {
	displayName:
		'With an offer chosen, Title and Price may stay blank: they are looked up in the catalog, and a blank Cover URL comes with them. What you type wins. With Title and Price typed, the catalog is not read.',
	name: 'blanksNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '/options.fillFromCatalog': [false] } },
};

/** The cart of Transaction > Create PIX. */
export const cartProperty: INodeProperties = {
	displayName: 'Cart',
	name: 'cart',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Item',
	default: {},
	description: 'What the customer buys. Its items add up to the amount that is charged.',
	options: [
		{
			displayName: 'Item',
			name: 'items',
			values: [
				offerLocator({
					description:
						'The offer that is bought. Its title and price come from the catalog if you leave them blank.',
				}),
				blanksNotice,
				...itemFields,
			],
		},
	],
};
