import {
	MOST_LOOKUP_PAGES,
	type CatalogLookup,
	type CatalogOffer,
	type FoundOffer,
	type Lookup,
} from '../../api/catalog';
import { isSamePage } from '../../domain/pageAddress';
import { parseWebAddress } from '../../domain/webAddress';
import type { Located } from '../../form/locators';
import type { ChargeForm } from './create.form';

type CartItem = ChargeForm['cart'][number];

/** Whether the cart needs something from the catalog. */
export function leavesBlanks({ cart, options }: ChargeForm): boolean {
	if (options.fillFromCatalog === false) return false;
	return cart.some((item) => item.offerHash && isOpen(item));
}

/**
 * Fills blank titles and prices of the cart's offers from the catalog, and finds an offer's hash by
 * its checkout address. A blank cover is filled along with them, but is not worth a request of its own.
 * A lookup that finds nothing or fails leaves the blanks and gives a hint; the charge is still made.
 */
export async function fillCart(
	form: ChargeForm,
	catalog: CatalogLookup,
	hint: (message: string) => void,
): Promise<ChargeForm> {
	const cart: CartItem[] = [];
	for (const item of form.cart) {
		const { offerHash: located } = item;
		if (!located || !isOpen(item)) {
			cart.push(item);
			continue;
		}
		const { found, failed } = await catalog.offer((offer) => isIt(located, offer));
		const filled = found ? filledFrom(item, located, found) : item;
		const problem = problemOf(located, blanksOf(filled), { found, failed });
		if (problem !== undefined) hint(`Offer ${located.hash} ${problem}.`);
		cart.push(filled);
	}
	return { ...form, cart };
}

function problemOf(
	{ address }: Located,
	blanks: string[],
	{ found, failed }: Lookup<FoundOffer>,
): string | undefined {
	const come = [
		...(address !== undefined && !found ? ['its hash was taken from the end of its address'] : []),
		...(blanks.length > 0 ? [`${blanks.join(' and ')} stayed empty`] : []),
	].join(', and ');
	if (come === '') return undefined;
	if (found) return `is incomplete in the catalog, so ${come}`;
	return failed
		? `could not be looked up in the catalog just now, so ${come}`
		: `was not found in the part of the catalog that was read (at most ${MOST_LOOKUP_PAGES} pages), so ${come}`;
}

function isOpen(item: CartItem): boolean {
	return item.offerHash?.address !== undefined || blanksOf(item).length > 0;
}

function blanksOf(item: CartItem): string[] {
	return [
		...(item.price === undefined ? ['Price'] : []),
		...(item.more.title === undefined ? ['More > Title'] : []),
	];
}

function isIt({ hash, address }: Located, offer: CatalogOffer): boolean {
	if (offer.hash === hash) return true;
	return address !== undefined && offer.url != null && isSamePage(offer.url, address);
}

function filledFrom(item: CartItem, located: Located, { product, offer }: FoundOffer): CartItem {
	const cover = product.cover != null && parseWebAddress(product.cover) ? product.cover : undefined;
	return {
		...item,
		offerHash: { hash: offer.hash ?? located.hash },
		price: item.price ?? offer.price ?? undefined,
		more: {
			...item.more,
			title: item.more.title ?? offer.title ?? product.title ?? undefined,
			cover: item.more.cover ?? cover,
		},
	};
}
