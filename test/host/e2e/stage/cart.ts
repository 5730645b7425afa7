import type { Sandbox } from '../../../sandbox';

/** The cart of a charge: the first offer of the catalog, once. */
export function cartOf({ products }: Sandbox) {
	const offerHash = { __rl: true, mode: 'hash', value: products[0]?.offers[0]?.hash ?? '' };
	return {
		items: [{ offerHash, price: '19,90', quantity: 1, more: { title: 'Curso' } }],
	};
}
