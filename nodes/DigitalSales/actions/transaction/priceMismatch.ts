import type { NodeOperationError } from 'n8n-workflow';
import { seenPrice } from '../../api/seenPrices';
import { formatReais, isHundredfold, typedAmount } from '../../domain/money';
import { displayPath } from '../../form/displayPath';
import { mistake } from '../../form/readForm';
import type { Run } from '../run';
import { chargeForm, type ChargeForm } from './create.form';

/**
 * What is wrong with a price that is exactly 100 times the price that this process saw last of the
 * offer, or a hundredth of it: reais and cents were probably mixed up. The same for Amount and the sum
 * of the cart.
 *
 * @param typed as given, since a price from the catalog is not compared with itself
 * @param cart with the hashes and prices that were looked up
 * @returns an error that names the field and both readings
 */
export function priceMismatch(
	{ context, account }: Run,
	itemIndex: number,
	typed: ChargeForm,
	cart: ChargeForm['cart'],
): NodeOperationError | undefined {
	const { additionalFields, options } = typed;
	const { amount, customFields = {} } = additionalFields;
	// What Custom Fields replace is not sent.
	const isReplaced = 'cart' in customFields || 'amount' in customFields;
	if (options.allowPriceMismatch === true || isReplaced) return undefined;
	const compare = (
		path: Array<string | number>,
		given: number | undefined,
		says: string,
		other: number | undefined,
	): NodeOperationError | undefined => {
		if (given === undefined || other === undefined || !isHundredfold(given, other))
			return undefined;
		const label = displayPath(chargeForm.properties, path, context.getNode());
		return mistake(
			context,
			itemIndex,
			`${label} is ${formatReais(given)}, but ${says} ${formatReais(other)}`,
			`If ${formatReais(other)} is right, enter ${typedAmount(other, options.amountUnit)}. If ${formatReais(given)} is right, add Options > Allow Price Mismatch.`,
		);
	};
	const seen = cart.map(({ offerHash }) =>
		offerHash === undefined ? undefined : seenPrice(account, offerHash.hash),
	);
	const ofItems = typed.cart.map(({ price }, index) =>
		compare(['cart', 'items', index, 'price'], price, 'the catalog last said', seen[index]),
	);
	const prices = cart.map(({ price, quantity }, index) => (price ?? seen[index] ?? NaN) * quantity);
	const total = prices.reduce((sum, price) => sum + price, 0);
	const ofAmount =
		prices.length > 0 && Number.isSafeInteger(total)
			? compare(['additionalFields', 'amount'], amount, 'the cart adds up to', total)
			: undefined;
	return ofItems.find(Boolean) ?? ofAmount;
}
