import { charge } from '../api/charge';
import type { SandboxParts } from '../api/context';
import type { StoredTransaction } from '../types';

/**
 * The newest transaction, or a paid sample if there is none, so that a receiver can be tried
 * before anything has been sold. A sample can be read back like any other and is no charge.
 */
export async function newestOrSample(parts: SandboxParts): Promise<StoredTransaction> {
	const newest = parts.state.transactions[parts.state.transactions.length - 1];
	if (newest) return newest;
	const offer = parts.state.products[0]?.offers[0];
	if (!offer) throw new Error('The catalog is empty');
	return await charge(
		parts,
		{
			amount: offer.price,
			installments: 1,
			offerHash: offer.hash,
			items: [{ offerHash: offer.hash, operationType: 1 }],
			customer: {
				name: 'Maria Exemplo',
				email: 'maria@cliente.test',
				phone: '11900000000',
				document: '52998224725',
			},
			tracking: {
				src: null,
				utm_source: 'sandbox',
				utm_campaign: null,
				utm_content: null,
				utm_term: null,
				utm_medium: null,
			},
			notificationUrl: '',
		},
		{ sample: true, status: 'paid' },
	);
}
