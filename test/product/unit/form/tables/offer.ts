import { AMOUNT_UNIT, money, row, timeout, TRIES_OF_CREATING, type FormTable } from '../table';

const METHODS = [2, 1, 3];
const DISCOUNTS = 'additionalFields.paymentMethodDiscounts';

export const createOffer: FormTable = {
	name: 'Offer > Create',
	chosenBy: { resource: 'offer', operation: 'create' },
	rows: [
		row('productHash', 'resourceLocator', { mode: 'list', value: '' }, 'product that the offer', {
			required: true,
		}),
		row('title', 'string', '', 'name of the offer'),
		...money('price', 'Price', 'price of the offer'),
		row('paymentMethods', 'multiOptions', [3], 'How customers can pay', { choices: METHODS }),
		row('additionalFields', 'collection', {}),
		row('additionalFields.customFields', 'json', '{}', 'added last'),
		row('additionalFields.methodDefault', 'options', 3, 'when the checkout opens', {
			choices: METHODS,
		}),
		row('additionalFields.interval', 'options', 'monthly', 'only for subscription products', {
			choices: ['daily', 'monthly', 'quarterly', 'semi-annual', 'weekly', 'yearly'],
		}),
		row(DISCOUNTS, 'fixedCollection', {}, 'Discounts'),
		row(`${DISCOUNTS}.items.paymentMethod`, 'options', 'pix', undefined, {
			choices: ['credit_card', 'other', 'pix'],
		}),
		row(`${DISCOUNTS}.items.paymentMethodName`, 'string', '', 'your service', {
			when: { [`${DISCOUNTS}.items.paymentMethod`]: ['other'] },
		}),
		row(`${DISCOUNTS}.items.discountPercentage`, 'number', 0, 'Percent off the price'),
		row('additionalFields.affiliatesVisible', 'boolean', false, 'affiliates see the offer'),
		row('options', 'collection', {}),
		AMOUNT_UNIT,
		row('options.repeatCode', 'string', '', 'allows that one offer'),
		...TRIES_OF_CREATING,
		timeout(60),
	],
};
