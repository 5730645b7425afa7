import { z } from 'zod';
import { lenientInteger, lenientText, tolerated } from './lenient';

/** Payment method codes of offers (API document, Payment method codes). */
export const PAYMENT_METHOD_CODES = { card: 1, boleto: 2, pix: 3 } as const;

/** Recurrence intervals of offers (API document, Offer). */
export const OFFER_INTERVALS = [
	'daily',
	'weekly',
	'monthly',
	'quarterly',
	'semi-annual',
	'yearly',
] as const;

/** An offer (API document, Offer). `price` in cents. */
export const offerSchema = z
	.object({
		hash: tolerated(lenientText),
		title: tolerated(lenientText),
		price: tolerated(lenientInteger),
		url: tolerated(lenientText),
		status: tolerated(lenientInteger),
		interval: tolerated(lenientText),
		created_at: tolerated(lenientText),
		updated_at: tolerated(lenientText),
	})
	.passthrough();

export type Offer = z.output<typeof offerSchema>;
