import type { IDataObject } from 'n8n-workflow';
import { BoundedMap, processWide } from '../shared/processWide';
import { isJsonObject } from '../shared/json';
import type { Account } from './account';
import { offerSchema } from './schemas/offer';

/** As the service sent them, by account and offer: of thousands that a list brings, a charge reads one. */
const seenPrices = processWide(new BoundedMap<string | number>({ most: 10_000 }));

/** Remembers the prices of offers that the service just sent. */
export function markPricesSeen(account: Account, offers: unknown): void {
	if (!Array.isArray(offers)) return;
	for (const { hash, price } of offers.filter(isJsonObject)) {
		const key = keyOf(account, hash);
		if (typeof price !== 'string' && typeof price !== 'number') seenPrices.delete(key);
		// To move thousands of entries to the end at each list would cost more than it gives.
		else if (seenPrices.get(key) !== price) seenPrices.set(key, price);
	}
}

/** The price in cents that this process last saw of an offer. Undefined means unknown, not absent. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return offerSchema.shape.price.parse(seenPrices.get(keyOf(account, hash))) ?? undefined;
}

function keyOf({ key }: Account, hash: IDataObject[string]): string {
	return `${key.slice(0, 16)} ${String(hash)}`;
}
