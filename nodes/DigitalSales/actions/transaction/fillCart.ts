import { compact } from 'lodash';
import {
	type Account,
	type FoundOffer,
	isOnSale,
	type Lookup,
	MOST_LOOKUP_PAGES,
	seenPrice,
	type ServiceError,
} from '../../api';
import {
	formatReais,
	isHundredfold,
	quoteText,
	RUN_AGAIN,
	typedAmount,
	validWebAddress,
} from '../../domain';
import { NotSentError } from '../../output';
import type { Run } from '../run';
import { type Charge, labelOf } from './charge';
import type { ChargeForm } from './create.form';

const PRICE = 'Price in Reais';

type CartItem = ChargeForm['cart'][number];

/**
 * Fills blank prices and titles from the catalog, and a blank cover along with them.
 *
 * @throws NotSentError if a blank price cannot be looked up, or is missing or ambiguous
 */
export async function fillCart(run: Run, form: ChargeForm): Promise<ChargeForm> {
	const cart: CartItem[] = [];
	for (const [index, item] of form.cart.entries()) {
		cart.push(await fillItem(run, form, index, item));
	}

	return { ...form, cart };
}

async function fillItem(
	run: Run,
	form: ChargeForm,
	index: number,
	item: CartItem,
): Promise<CartItem> {
	if (blankFields(item).length === 0) return item;

	const hash = item.offerHash;
	const isPriced = item.price !== undefined;
	const { customFields = {} } = form.additionalFields;
	const needsPrice = !('amount' in customFields);

	const lookup = await run.catalog().findOffer(hash, { isPriced });
	if (lookup.failed && !isPriced) throw lookupError(hash, lookup.failed);

	const filled = lookup.found ? withOffer(run, item, lookup.found) : item;
	const blanks = blankFields(filled);
	if (blanks.length === 0) return filled;

	const problem = lookupProblem(blanks, lookup);
	if (blanks.includes(PRICE) && needsPrice) {
		const field = labelOf(form, 'cart', index, 'price');
		const advice = `Offer ${quoteText(hash)} ${problem}. Enter the price.`;
		throw new NotSentError(`${field} is empty`, advice);
	}
	run.addHint(`It ${problem}.`, `Offer ${hash}`);
	return filled;
}

function blankFields({ price, more }: CartItem): string[] {
	return compact([price === undefined && PRICE, more.title === undefined && 'More > Title']);
}

/** The catalog page may be cached, so the price that was read last counts, except for products not on sale. */
function withOffer({ account }: Run, item: CartItem, { product, offer }: FoundOffer): CartItem {
	const seen = isOnSale(product) ? seenPrice(account, item.offerHash) : undefined;
	const price = item.price ?? seen ?? offer.price ?? undefined;
	const title = item.more.title ?? (offer.title || product.title || undefined);
	const cover = item.more.cover ?? validWebAddress(product.cover);

	return { ...item, price, more: { ...item.more, title, cover } };
}

function lookupProblem(blanks: string[], { found, failed, hasSeveralPrices }: Lookup): string {
	const stayed = `${blanks.join(' and ')} stayed empty`;
	if (failed) return `could not be looked up in the catalog (${failed.message}), so ${stayed}`;
	if (hasSeveralPrices) return `has several prices in the catalog, so ${stayed}`;
	if (found) return `is incomplete in the catalog, so ${stayed}`;
	return `was not found in the first ${MOST_LOOKUP_PAGES} pages of the catalog, so ${stayed}`;
}

function lookupError(hash: string, error: ServiceError): NotSentError {
	return new NotSentError(
		`Offer ${quoteText(hash)} could not be looked up in the catalog`,
		`${error.message}. Wait a while, then ${RUN_AGAIN}, or enter the price and the title yourself.`,
		{ answer: error.outcome },
	);
}

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
