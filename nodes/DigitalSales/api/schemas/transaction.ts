import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { parseResource, resourceHash } from './answer';
import { lenientInteger, lenientText, tolerated } from '../../shared';

const person = tolerated(
	z.object({
		name: lenientText,
		email: lenientText,
		phone_number: lenientText,
		document: lenientText,
	}),
);

const titled = tolerated(z.object({ hash: lenientText, title: lenientText }));

/** The fields that the package reads (API document, Transaction). Amounts are in cents. */
const transactionSchema = z.object({
	hash: resourceHash.transform(String),
	payment_method: lenientText,
	payment_status: lenientText,
	amount: lenientInteger,
	amount_liquid: lenientInteger,
	installments: lenientInteger,
	customer: person,
	offer: titled,
	product: titled,
	pix: tolerated(z.object({ pix_qr_code: tolerated(z.string().trim()) })),
	items: tolerated(z.array(titled)),
	postback_url: lenientText,
	created_at: lenientText,
	updated_at: lenientText,
	/** `src` and `tracking` are documented for the request only. */
	src: lenientText,
	tracking: tolerated(z.object({ src: lenientText })),
	utm_source: lenientText,
	utm_medium: lenientText,
	utm_campaign: lenientText,
	utm_content: lenientText,
	utm_term: lenientText,
});

export type Transaction = z.output<typeof transactionSchema> & {
	/** As the platform sent it. */
	json: IDataObject;
};

export function parseTransaction(body: unknown): Transaction | undefined {
	const json = parseResource(body);
	const { data } = transactionSchema.safeParse(json);
	return json && data && { ...data, json };
}
