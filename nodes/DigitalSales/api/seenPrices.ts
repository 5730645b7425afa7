import { BoundedMap } from '../shared/boundedMap';
import { processWide } from '../shared/processWide';
import type { Account } from './account';
import type { Offer } from './schemas/offer';

/** In cents, by account and offer. */
const seenPrices = processWide(new BoundedMap<number>({ most: 10_000 }));

/** Remembers the price of an offer that the service just sent. */
export function markPriceSeen(
	account: Account,
	{ hash, price }: Pick<Offer, 'hash' | 'price'>,
): void {
	if (hash != null && price != null) seenPrices.set(keyOf(account, hash), price);
}

/** The price in cents that this process last saw of an offer. Undefined means unknown, not absent. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return seenPrices.get(keyOf(account, hash));
}

function keyOf({ key }: Account, hash: string): string {
	return `${key.slice(0, 16)} ${hash}`;
}
