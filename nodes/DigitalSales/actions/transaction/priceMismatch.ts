import { type Account, seenPrice } from '../../api';
import { formatReais, isHundredfold, typedAmount } from '../../domain';
import { NotSentError } from '../../output';
import { type Charge, labelOf } from './charge';
import type { ChargeForm } from './create.form';

/** Finds a price that is a hundred times the catalog's last known price of the offer, or a hundredth. */
export function findPriceMismatch(
	account: Account,
	form: ChargeForm,
	{ cart }: Charge,
): NotSentError | undefined {
	if (form.options.allowPriceMismatch === true) return undefined;

	for (const [index, { offer_hash, price }] of cart.entries()) {
		const seen = seenPrice(account, offer_hash ?? '');
		if (price == null || seen === undefined || !isHundredfold(price, seen)) continue;

		const field = labelOf(form, 'cart', index, 'price');
		const right = form.cart.length > 0 ? typedAmount(seen) : seen;
		return new NotSentError(
			`${field} is ${formatReais(price)}, but the catalog last said ${formatReais(seen)}`,
			`Enter ${right}, or add Options > Allow Price Mismatch if ${formatReais(price)} is right.`,
		);
	}

	return undefined;
}
