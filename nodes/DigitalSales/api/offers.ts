import type { IDataObject } from 'n8n-workflow';
import { hashSegment } from '../domain';
import { BoundedMap, isJsonObject, processState } from '../shared';
import type { Account } from './account';
import type { Client, Send } from './client';
import { offerSchema } from './schemas/product';
import { readResource } from './schemas/answer';

/** By offer. Not parsed, because a list brings thousands of prices. */
const seenPrices = processState(new BoundedMap<string | number>({ most: 10_000 }));

/**
 * Yields the tries to create an offer (API document, Endpoint 2: POST /products/{hash}/offers).
 *
 * @param body `price` is in integer cents
 */
export function offerTries(
	client: Client,
	productHash: string,
	body: IDataObject,
): AsyncGenerator<Send<IDataObject>, void> {
	const path = `/products/${hashSegment(productHash)}/offers`;
	return client.tries({ endpoint: 'POST /products/{hash}/offers', path, body }, readResource);
}

export function markPricesSeen(account: Account, offers: unknown): void {
	if (!Array.isArray(offers)) return;
	for (const { hash, price } of offers.filter(isJsonObject)) {
		const key = keyOf(account, String(hash));
		if (typeof price !== 'string' && typeof price !== 'number') seenPrices.delete(key);
		// Refreshing thousands of entries on every list is not worth its cost.
		else if (seenPrices.get(key) !== price) seenPrices.set(key, price);
	}
}

/** In cents, as this process has read it last. */
export function seenPrice(account: Account, hash: string): number | undefined {
	return offerSchema.shape.price.parse(seenPrices.get(keyOf(account, hash))) ?? undefined;
}

function keyOf({ key }: Account, hash: string): string {
	return `${key} ${hash}`;
}
