import {
	type Account,
	type FoundOffer,
	isOnSale,
	type Lookup,
	MOST_LOOKUP_PAGES,
	seenPrice,
} from '../../api';
import {
	formatReais,
	isHundredfold,
	quoteText,
	RUN_AGAIN,
	typedAmount,
	validWebAddress,
} from '../../domain';
import { displayPath, fieldLabel, type Path } from '../../form';
import { NotSentError } from '../../output';
import type { Run } from '../run';
import type { CartLine } from './chargeBody';
import { type ChargeForm, chargeForm } from './create.form';

/** The form or Custom Fields, wherever the cart comes from. */
export function cartLabel(form: ChargeForm, ...path: Path): string {
	const label = form.cart.length > 0 && fieldLabel(chargeForm, ['cart', ...path].join('.'));
	if (label) return label;

	return displayPath(chargeForm, ['additionalFields', 'customFields', 'cart', ...path]);
}

/**
 * Fills blank prices and titles of the form's cart from the catalog, and a blank cover along with them.
 *
 * @throws NotSentError if a price stays blank
 */
export async function fillCart(run: Run, form: ChargeForm, cart: CartLine[]): Promise<CartLine[]> {
	if (form.cart.length === 0) return cart;

	const filled: CartLine[] = [];
	for (const [index, line] of cart.entries()) {
		filled.push(await fillLine(run, line, cartLabel(form, index, 'price')));
	}

	return filled;
}

async function fillLine(run: Run, line: CartLine, priceLabel: string): Promise<CartLine> {
	const hash = line.offer_hash ?? '';
	const isPriced = line.price != null;
	if (isPriced && line.title) return line;

	const lookup = await run.catalog().findOffer(hash, { isPriced });
	const filled = withOffer(run.account, line, lookup.found);
	const isComplete = isPriced || (!lookup.failed && filled.price != null && filled.price >= 0);
	if (isComplete) return filled;

	throw new NotSentError(
		`${priceLabel} is empty`,
		`Offer ${quoteText(hash)} ${lookupAdvice(lookup)}`,
		'notSent',
		lookup.failed?.answer,
	);
}

/** The catalog page may be cached, so the price that was read last counts, except for products not on sale. */
function withOffer(account: Account, line: CartLine, found?: FoundOffer): CartLine {
	if (!found) return line;

	const { product, offer } = found;
	const seen = isOnSale(product) ? seenPrice(account, line.offer_hash ?? '') : undefined;

	return {
		...line,
		price: line.price ?? seen ?? offer.price,
		title: line.title || offer.title || product.title || undefined,
		cover: line.cover ?? validWebAddress(product.cover),
	};
}

function lookupAdvice({ found, failed, hasSeveralPrices }: Lookup): string {
	if (failed) {
		return `could not be looked up in the catalog: ${failed.message}. Wait a while, then ${RUN_AGAIN}, or enter the price.`;
	}
	if (hasSeveralPrices) return 'has several prices in the catalog. Enter the price.';
	if (found) return 'has no price in the catalog. Enter the price.';
	return `was not found in the first ${MOST_LOOKUP_PAGES} pages of the catalog. Enter the price.`;
}

/** Finds a price that is a hundred times the catalog's last known price of the offer, or a hundredth. */
export function findPriceMismatch(
	account: Account,
	form: ChargeForm,
	cart: CartLine[],
): NotSentError | undefined {
	if (form.options.allowPriceMismatch === true) return undefined;

	for (const [index, { offer_hash, price }] of cart.entries()) {
		const seen = seenPrice(account, offer_hash ?? '');
		if (price == null || seen === undefined || !isHundredfold(price, seen)) continue;

		const right = form.cart.length > 0 ? typedAmount(seen) : seen;
		return new NotSentError(
			`${cartLabel(form, index, 'price')} is ${formatReais(price)}, but the catalog last said ${formatReais(seen)}`,
			`Enter ${right}, or add Options > Allow Price Mismatch if ${formatReais(price)} is right.`,
		);
	}

	return undefined;
}
