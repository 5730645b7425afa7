import { money, optional, textField, webAddressField, wholeNumberField } from '../../form/fields';
import { deciding, field, group, list } from '../../form/formOf';
import { offerLocator } from '../../form/locators';

const more = group({ displayName: 'More', name: 'more', placeholder: 'Add Field' }, [
	field(
		{
			displayName: 'Cover URL',
			name: 'cover',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/cover.png',
			description:
				'Address of a picture of the item. If you leave it empty, it comes from the catalog whenever Price or Title is looked up there.',
		},
		optional(webAddressField),
		'cover',
	),
	deciding(
		{
			displayName: 'Operation Type',
			name: 'operationType',
			type: 'number',
			typeOptions: { numberPrecision: 0 },
			default: 1,
			description:
				'The code that the service uses for the type of sale. Its values are not documented.',
		},
		optional(wholeNumberField(0)).transform((type = 1) => type),
		'operation_type',
	),
	field(
		{
			displayName: 'Title',
			name: 'title',
			type: 'string',
			default: '',
			placeholder: 'e.g. Curso de Fotografia',
			description:
				'The item name that the customer sees. If you leave it empty, it comes from the catalog.',
		},
		optional(textField),
		'title',
	),
]);

/** Above an entry in the editor: price and title of the offer that was picked, or what was typed for it. */
const OFFER_NAME =
	"={{ ($collection.item.value.offerHash.cachedResultName || $collection.item.value.offerHash.value).split(' · ', 2).join(' · ') }}";

/** The cart of Transaction > Create PIX. */
export const cart = list(
	{
		displayName: 'Cart',
		name: 'cart',
		placeholder: 'Add Item',
		description: 'What the customer buys. The amount charged is the sum of its items.',
		typeOptions: { fixedCollection: { itemTitle: OFFER_NAME } },
	},
	{
		displayName: 'Item',
		name: 'items',
		// In the order in which a person fills them in.
		parts: [
			offerLocator,
			deciding(
				{
					displayName: 'Quantity',
					name: 'quantity',
					type: 'number',
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 1,
					description: 'How many units the customer buys',
				},
				optional(wholeNumberField(1)).transform((quantity = 1) => quantity),
				'quantity',
			),
			money(
				{
					name: 'price',
					label: 'Price',
					description: 'Unit price. If you leave it empty, it comes from the catalog.',
				},
				'price',
			),
			more,
		],
	},
	'cart',
);
