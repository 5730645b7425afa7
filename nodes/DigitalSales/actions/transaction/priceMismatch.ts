import { seenPrice } from '../../api/seenPrices';
import { formatReais, isHundredfold, typedAmount } from '../../domain/money';
import { displayPath } from '../../form/displayPath';
import { mistake } from '../../form/readForm';
import type { Run } from '../run';
import { chargeForm, type ChargeForm } from './create.form';

/**
 * Refuses a price that is exactly 100 times the price that this process saw last of the offer, or a
 * hundredth of it: reais and cents were probably mixed up. The same for Amount and the sum of the cart.
 *
 * @param typed as given, since a price from the catalog is not compared with itself
 * @param cart with the hashes that were looked up
 * @throws NodeOperationError that names the field and both readings
 */
export function refusePriceMismatch(
	{ context, account }: Run,
	itemIndex: number,
	typed: ChargeForm,
	cart: ChargeForm['cart'],
	cartTotal: number | undefined,
): void {
	const { additionalFields, options } = typed;
	if (options.allowPriceMismatch === true) return;
	const compare = (
		path: Array<string | number>,
		given: number | undefined,
		says: string,
		other: number | undefined,
	): void => {
		if (given === undefined || other === undefined || !isHundredfold(given, other)) return;
		const label = displayPath(chargeForm.properties, path, context.getNode());
		throw mistake(
			context,
			itemIndex,
			`${label} is ${formatReais(given)}, but ${says} ${formatReais(other)}`,
			`If ${formatReais(other)} is right, enter ${typedAmount(other, options.amountUnit ?? 'reais')}. If ${formatReais(given)} is right, add Options > Allow Price Mismatch.`,
		);
	};
	for (const [index, { price }] of typed.cart.entries()) {
		const hash = cart[index]?.offerHash?.hash;
		const seen = hash === undefined ? undefined : seenPrice(account, hash);
		compare(['cart', 'items', index, 'price'], price, 'the catalog says', seen);
	}
	const { amount } = additionalFields;
	compare(['additionalFields', 'amount'], amount, 'the cart adds up to', cartTotal);
}
