import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { formatReais, isExactAmount, LARGEST_AMOUNT } from '../../domain/money';
import { displayPath } from '../../form/displayPath';
import { nothingSent } from '../../form/nothingSent';
import { createProperties } from './createForm';
import type { CreateForm } from './createSchema';

/** The sum of the cart in cents; undefined where a price is missing, since then nobody knows it. */
export function cartTotal(form: CreateForm): number | undefined {
	const items = form.cart.items;
	if (items.length === 0) return undefined;
	let total = 0;
	for (const { price, quantity } of items) {
		if (price === undefined) return undefined;
		total += price * quantity;
	}
	return total;
}

/**
 * Refuses a cart whose sums are so large that cents would get lost in them, or below zero because the
 * catalog says so.
 *
 * @throws NodeOperationError that names the item of the cart
 */
export function refuseInexactTotal(
	context: IExecuteFunctions,
	itemIndex: number,
	form: CreateForm,
): void {
	const labelOf = (...path: Array<string | number>): string =>
		displayPath(createProperties, ['cart', ...path], context.getNode());
	const sums = form.cart.items.map(({ price = 0, quantity }, index) => ({
		sum: price * quantity,
		name: `${labelOf('items', index, 'price')} times Quantity is`,
		advice: 'Correct the price or the quantity.',
	}));
	const total = {
		sum: cartTotal(form) ?? 0,
		name: `${labelOf()} adds up to`,
		advice: 'Correct a price or a quantity.',
	};
	const wrong = [...sums, total].find(({ sum }) => !isExactAmount(sum));
	if (!wrong) return;
	const problem =
		wrong.sum < 0
			? `less than ${formatReais(0)}`
			: `more than ${formatReais(LARGEST_AMOUNT)}, the largest amount`;
	throw new NodeOperationError(context.getNode(), `${wrong.name} ${problem}`, {
		itemIndex,
		description: `${wrong.advice}\n${nothingSent(context, itemIndex)}`,
	});
}
