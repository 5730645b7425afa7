import { z } from 'zod';
import { lenientInteger, lenientText, tolerated } from './lenient';

const person = tolerated(
	z
		.object({
			name: tolerated(z.string()),
			email: tolerated(z.string()),
			phone_number: tolerated(lenientText),
			document: tolerated(lenientText),
		})
		.passthrough(),
);

const titled = tolerated(
	z.object({ hash: tolerated(lenientText), title: tolerated(z.string()) }).passthrough(),
);

/**
 * The parts of a transaction that the package itself reads (API document, Transaction). `amount` in
 * cents. Without a hash nobody can follow a transaction up, so that alone is required.
 */
export const transactionSchema = z
	.object({
		hash: z.union([z.string().trim().min(1), z.number().transform(String)]),
		payment_method: tolerated(z.string()),
		payment_status: tolerated(z.string()),
		amount: tolerated(lenientInteger),
		customer: person,
		offer: titled,
		product: titled,
		items: tolerated(z.array(z.record(z.unknown()))),
		pix: tolerated(
			z
				.object({
					pix_url: tolerated(z.string()),
					pix_qr_code: tolerated(z.string()),
					qr_code_base64: tolerated(z.string()),
					pix_base64: tolerated(z.string()),
				})
				.passthrough(),
		),
		created_at: tolerated(z.string()),
		updated_at: tolerated(z.string()),
	})
	.passthrough();

export type Transaction = z.output<typeof transactionSchema>;
