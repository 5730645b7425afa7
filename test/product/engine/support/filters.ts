import type { INodeParameters } from 'n8n-workflow';

/** A hash as the form holds it. */
export const locator = (value: string): INodeParameters => ({ __rl: true, mode: 'hash', value });
/** The field Products of the trigger. */
export const products = (...hashes: string[]): INodeParameters => ({
	products: { items: hashes.map((hash) => ({ product: locator(hash) })) },
});
/** The field Offers of the trigger. */
export const offers = (...hashes: string[]): INodeParameters => ({
	offers: { items: hashes.map((hash) => ({ offer: locator(hash) })) },
});
