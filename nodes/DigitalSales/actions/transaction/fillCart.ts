import type { NodeOperationError } from 'n8n-workflow';
import { type FoundOffer, type Lookup, MOST_LOOKUP_PAGES } from '../../api/catalog';
import { isOnSale } from '../../api/products';
import { seenPrice } from '../../api/seenPrices';
import { formatReais } from '../../domain/money';
import { quoted, RUN_AGAIN } from '../../domain/text';
import { webAddressIn } from '../../domain/webAddress';
import { displayPath, mistake } from '../../form/readForm';
import type { ServiceError } from '../../api/serviceError';
import { NotSentError } from '../../output/errors';
import type { Run } from '../run';
import { type ChargeForm, chargeForm } from './create.form';

/** Of offers that fit. */
const MOST_NAMED = 10;

type CartItem = ChargeForm['cart'][number];

/**
 * Fills blank titles and prices of the cart's offers from the catalog. A blank cover is filled along with
 * them, but is not worth a request of its own. Without a title the charge is still made, with a hint.
 * A cart of Custom Fields is sent as it is.
 *
 * @throws NotSentError if the catalog cannot be read, and a price is blank
 * @throws NodeOperationError if several offers fit, or a price stays blank and no amount is given
 */
export async function fillCart(run: Run, itemIndex: number, form: ChargeForm): Promise<ChargeForm> {
	const { amount, customFields = {} } = form.additionalFields;
	if ('cart' in customFields) return form;
	const hasAmount = amount !== undefined || 'amount' in customFields;
	const cart: CartItem[] = [];
	for (const [index, item] of form.cart.entries()) {
		const { offerHash: hash } = item;
		const wrong = (field: string, message: string, advice: string): NodeOperationError => {
			const label = displayPath(chargeForm.properties, ['cart', 'items', index, field]);
			return mistake(run.context, itemIndex, `${label} ${message}`, advice);
		};
		if (blanksOf(item).length === 0) {
			cart.push(item);
			continue;
		}
		const { found, several, failed } = await run.catalog.findOffer(hash, item.price);
		// What the catalog says of a price is not guessed.
		if (failed && item.price === undefined) throw notLookedUp(hash, failed);
		if (several) throw wrong('offerHash', ...ambiguity(several));
		const filled = found ? filledFrom(run, item, hash, found) : item;
		const problem = problemOf(blanksOf(filled), { found, failed });
		if (blanksOf(filled).includes('Price') && !hasAmount) {
			throw wrong('price', 'is empty', `Offer ${quoted(hash)} ${problem}. Enter the price.`);
		}
		if (problem !== undefined) {
			run.hint(`Offer ${quoted(hash)} ${problem}.`, problem, `offer ${quoted(hash)}`);
		}
		cart.push(filled);
	}
	return { ...form, cart };
}

function notLookedUp(hash: string, error: ServiceError): NotSentError {
	return new NotSentError(`Offer ${quoted(hash)} could not be looked up in the catalog`, {
		advice: `${error.message}. Wait a while, then ${RUN_AGAIN}, or enter the price yourself.`,
		outcome: 'notSent',
		answer: error.outcome,
	});
}

function ambiguity(several: FoundOffer[]): [message: string, advice: string] {
	const names = several
		.slice(0, MOST_NAMED)
		.map(
			({ offer: { hash, price } }) =>
				`${quoted(String(hash))} (${price == null ? 'no price' : formatReais(price)})`,
		);
	return ['fits several offers of the catalog', `They are ${names.join(', ')}. Enter the price.`];
}

function problemOf(blanks: string[], { found, failed }: Lookup): string | undefined {
	if (blanks.length === 0) return undefined;
	const come = `${blanks.join(' and ')} stayed empty`;
	if (failed) return `could not be looked up in the catalog (${failed.message}), so ${come}`;
	if (found) return `is incomplete in the catalog, so ${come}`;
	return `was not found in the part of the catalog that was read (at most ${MOST_LOOKUP_PAGES} pages), so ${come}`;
}

function blanksOf(item: CartItem): string[] {
	const { customFields: own = {} } = item.more;
	return [
		...(item.price === undefined && !('price' in own) ? ['Price'] : []),
		...(item.more.title === undefined && !('title' in own) ? ['More > Title'] : []),
	];
}

/** The price that was read last counts, also if a page was remembered before; only what is sold has one. */
function filledFrom(
	{ account }: Run,
	item: CartItem,
	hash: string,
	{ product, offer }: FoundOffer,
): CartItem {
	const seen = isOnSale(product) ? seenPrice(account, hash) : undefined;
	return {
		...item,
		price: item.price ?? seen ?? offer.price ?? undefined,
		more: {
			...item.more,
			title: item.more.title ?? offer.title ?? product.title ?? undefined,
			cover: item.more.cover ?? webAddressIn(product.cover),
		},
	};
}
