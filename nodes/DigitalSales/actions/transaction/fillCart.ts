import {
	type FoundOffer,
	isOnSale,
	type Lookup,
	MOST_LOOKUP_PAGES,
	seenPrice,
	type ServiceError,
} from '../../api';
import { formatReais, quoteText, RUN_AGAIN, validWebAddress } from '../../domain';
import { displayPath } from '../../form';
import { NotSentError } from '../../output';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';

const MOST_NAMED = 10;

const PRICE = 'Price in Reais';

type CartItem = ChargeForm['cart'][number];

/**
 * Fills blank prices and titles from the catalog, and a blank cover along with them.
 *
 * @throws NotSentError if a blank price is ambiguous, cannot be looked up, or is missing
 */
export async function fillCart(run: Run, form: ChargeForm): Promise<ChargeForm> {
	const { customFields = {} } = form.additionalFields;
	const hasAmount = 'amount' in customFields;
	const cart: CartItem[] = [];
	for (const [index, item] of form.cart.entries()) {
		if (blankFields(item).length === 0) {
			cart.push(item);
			continue;
		}
		const hash = item.offerHash;
		const labelOf = (field: string): string =>
			displayPath(chargeForm.properties, ['cart', 'items', index, field]);
		const isPriced = !blankFields(item).includes(PRICE);
		const { found, several, failed } = await run.catalog.findOffer(hash, { isPriced });
		if (failed && !isPriced) throw lookupError(hash, failed);
		if (several) throw ambiguousError(labelOf('offerHash'), several);
		const filled = found ? fillItem(run, item, found) : item;
		cart.push(filled);
		const blanks = blankFields(filled);
		if (blanks.length === 0) continue;
		const problem = lookupProblem(blanks, { found, failed });
		if (blanks.includes(PRICE) && !hasAmount) {
			const text = `Offer ${quoteText(hash)} ${problem}.`;
			throw new NotSentError(`${labelOf('price')} is empty`, `${text} Enter the price.`);
		}
		run.addHint(`It ${problem}.`, `Offer ${hash}`);
	}
	return { ...form, cart };
}

function lookupError(hash: string, error: ServiceError): NotSentError {
	return new NotSentError(
		`Offer ${quoteText(hash)} could not be looked up in the catalog`,
		`${error.message}. Wait a while, then ${RUN_AGAIN}, or enter the price and the title yourself.`,
		{ answer: error.outcome },
	);
}

function ambiguousError(label: string, several: FoundOffer[]): NotSentError {
	const names = several
		.slice(0, MOST_NAMED)
		.map(
			({ offer: { hash, price } }) =>
				`${quoteText(String(hash))} (${price == null ? 'no price' : formatReais(price)})`,
		);
	return new NotSentError(
		`${label} matches several offers in the catalog`,
		`They are ${names.join(', ')}. Enter the price.`,
	);
}

function lookupProblem(blanks: string[], { found, failed }: Lookup): string {
	const stayed = `${blanks.join(' and ')} stayed empty`;
	if (failed) return `could not be looked up in the catalog (${failed.message}), so ${stayed}`;
	if (found) return `is incomplete in the catalog, so ${stayed}`;
	return `was not found in the first ${MOST_LOOKUP_PAGES} pages of the catalog, so ${stayed}`;
}

function blankFields({ price, more: { title } }: CartItem): string[] {
	return [
		...(price === undefined ? [PRICE] : []),
		...(title === undefined ? ['More > Title'] : []),
	];
}

/** The catalog page may be cached, so the price that was read last counts, except for products not on sale. */
function fillItem({ account }: Run, item: CartItem, { product, offer }: FoundOffer): CartItem {
	const seen = isOnSale(product) ? seenPrice(account, item.offerHash) : undefined;
	return {
		...item,
		price: item.price ?? seen ?? offer.price ?? undefined,
		more: {
			...item.more,
			title: item.more.title ?? (offer.title || product.title || undefined),
			cover: item.more.cover ?? validWebAddress(product.cover),
		},
	};
}
