import { seenPrice } from '../../api/products';
import { formatReais, isHundredfold, typedAmount } from '../../domain/money';
import { Refusal } from '../../output/errors';
import type { Run } from '../run';
import type { Charge } from './charge';
import type { ChargeForm } from './create.form';

/**
 * What is wrong with a price that is exactly 100 times the price that this process saw last of the
 * offer, or a hundredth of it: reais and cents were probably mixed up. The same for the amount and the
 * sum of the cart.
 *
 * @returns an error that names the field and both readings
 */
export function priceMismatch(
	{ account, context }: Run,
	itemIndex: number,
	{ additionalFields, options }: ChargeForm,
	{ cart, amount, labelOf }: Charge,
): Refusal | undefined {
	if (options.allowPriceMismatch === true) return undefined;
	const compare = (
		label: Parameters<Charge['labelOf']>,
		given: number | null | undefined,
		says: string,
		other: number | undefined,
	): Refusal | undefined => {
		if (given == null || other === undefined || !isHundredfold(given, other)) return undefined;
		// Custom Fields are in the service's own unit.
		const unit = label[0] in (additionalFields.customFields ?? {}) ? 'cents' : 'reais';
		const isOnly = context.getInputData().length === 1;
		const notSent = isOnly ? 'Nothing was sent.' : `Item ${itemIndex + 1} was not sent.`;
		return new Refusal(
			`${labelOf(...label)} is ${formatReais(given)}, but ${says} ${formatReais(other)}`,
			{
				advice: `${notSent} Enter ${typedAmount(other, unit)}, or add Options > Allow Price Mismatch if ${formatReais(given)} is right.`,
				outcome: 'notSent',
			},
		);
	};
	const seen = cart.map(({ offer_hash: hash }) =>
		hash == null ? undefined : seenPrice(account, hash),
	);
	const ofItems = cart.map(({ price }, index) =>
		compare(['cart', index, 'price'], price, 'the catalog last said', seen[index]),
	);
	const prices = cart.map(({ price, quantity }, at) => (price ?? seen[at] ?? NaN) * quantity);
	const total = prices.reduce((sum, price) => sum + price, 0);
	const ofAmount =
		prices.length > 0 && Number.isSafeInteger(total)
			? compare(['amount'], amount, 'the cart adds up to', total)
			: undefined;
	return ofItems.find(Boolean) ?? ofAmount;
}
