import { money } from '../../form/amountUnit';
import { optional, textField, webAddressField, wholeNumberField } from '../../form/fields';
import { field, list, type Notice } from '../../form/formOf';
import { offerLocator } from '../../form/locators';

const blanksNotice: Notice = {
	displayName:
		'With an offer chosen, Title and Price may stay blank: they are looked up in the catalog, and a blank Cover URL comes with them. What you type wins. With Title and Price typed, the catalog is not read.',
	name: 'blanksNotice',
	type: 'notice',
	default: '',
	displayOptions: { hide: { '/options.fillFromCatalog': [false] } },
};

/** The cart of Transaction > Create PIX. */
export const cart = list(
	{
		displayName: 'Cart',
		name: 'cart',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Item',
		default: {},
		description: 'What the customer buys. Its items add up to the amount that is charged.',
	},
	{
		displayName: 'Item',
		name: 'items',
		// In the order in which a person fills them in; what is seldom needed comes last.
		parts: [
			offerLocator,
			blanksNotice,
			field(
				{
					displayName: 'Title',
					name: 'title',
					type: 'string',
					default: '',
					placeholder: 'e.g. Curso de Fotografia',
					description:
						'The name of the item as the customer sees it. Left blank, it comes from the catalog.',
				},
				optional(textField),
				'title',
			),
			money(
				{
					name: 'price',
					label: 'Price',
					description: 'The price of one piece. Left blank, it comes from the catalog.',
				},
				'price',
			),
			field(
				{
					displayName: 'Quantity',
					name: 'quantity',
					type: 'number',
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 1,
					description: 'How many pieces are bought',
				},
				optional(wholeNumberField(1)).transform((quantity = 1) => quantity),
				'quantity',
			),
			field(
				{
					displayName: 'Cover URL',
					name: 'cover',
					type: 'string',
					default: '',
					placeholder: 'e.g. https://example.com/cover.png',
					description:
						'Address of a picture of the item. Left blank, it comes from the catalog if Title or Price is looked up there.',
				},
				optional(webAddressField),
				'cover',
			),
			field(
				{
					displayName: 'Operation Type',
					name: 'operationType',
					type: 'number',
					typeOptions: { numberPrecision: 0 },
					default: 1,
					description:
						'A code of the service for the kind of sale. Its values are not documented; 1 is what every known call sends.',
				},
				optional(wholeNumberField(0)).transform((type = 1) => type),
				'operation_type',
			),
		],
	},
	'cart',
);
