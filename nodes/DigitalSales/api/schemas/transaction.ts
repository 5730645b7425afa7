import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { hashSchema, readResource } from './resource';
import { lenientInteger, lenientText, tolerated } from '../../shared';

const person = tolerated(
	z.object({
		name: tolerated(lenientText),
		email: tolerated(lenientText),
		phone_number: tolerated(lenientText),
		document: tolerated(lenientText),
	}),
);

const titled = tolerated(z.object({ hash: tolerated(lenientText), title: tolerated(lenientText) }));

/** The fields that the package reads (API document, Transaction). Amounts are in cents. */
const transactionSchema = z.object({
	hash: hashSchema.transform(String),
	payment_method: tolerated(lenientText),
	payment_status: tolerated(lenientText),
	amount: tolerated(lenientInteger),
	amount_liquid: tolerated(lenientInteger),
	installments: tolerated(lenientInteger),
	customer: person,
	offer: titled,
	product: titled,
	pix: tolerated(z.object({ pix_qr_code: tolerated(z.string().trim()) })),
	items: tolerated(z.array(titled)),
	postback_url: tolerated(lenientText),
	created_at: tolerated(lenientText),
	updated_at: tolerated(lenientText),
	/** `src` and `tracking` are documented for the request only. */
	src: tolerated(lenientText),
	tracking: tolerated(z.object({ src: tolerated(lenientText) })),
	utm_source: tolerated(lenientText),
	utm_medium: tolerated(lenientText),
	utm_campaign: tolerated(lenientText),
	utm_content: tolerated(lenientText),
	utm_term: tolerated(lenientText),
});

export type Transaction = z.output<typeof transactionSchema> & {
	/** As the platform sent it. */
	json: IDataObject;
};

export function readTransaction(body: unknown): Transaction | undefined {
	const json = readResource(body);
	const { data } = transactionSchema.safeParse(json);
	return json && data && { ...data, json };
}
