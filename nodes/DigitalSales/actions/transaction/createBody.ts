import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { withoutBlanks } from '../../domain/blanks';
import { formatReais } from '../../domain/money';
import { withCustomFields } from '../../form/customFields';
import { cartTotal } from './cartTotal';
import type { CreateForm } from './createSchema';

/**
 * The body of POST /transactions (API document, Endpoint 3), without the token. Amounts in cents;
 * blank fields are left out, because which fields are required is not documented.
 */
export function createBody(form: CreateForm, notificationUrl: string | undefined): IDataObject {
	const { additionalFields: more } = form;
	const customer = withoutBlanks({
		name: form.customerName,
		email: form.customerEmail,
		phone_number: form.customerPhone,
		document: form.customerDocument,
	});
	const tracking = withoutBlanks({
		src: more.tracking?.src,
		utm_source: more.tracking?.utmSource,
		utm_campaign: more.tracking?.utmCampaign,
		utm_content: more.tracking?.utmContent,
		utm_term: more.tracking?.utmTerm,
		utm_medium: more.tracking?.utmMedium,
	});
	const cart = form.cart.items.map((item) =>
		withoutBlanks({
			offer_hash: item.offerHash?.hash,
			price: item.price,
			quantity: item.quantity,
			operation_type: item.operationType,
			title: item.title,
			cover: item.cover,
		}),
	);
	const body: IDataObject = withoutBlanks({
		amount: more.amount ?? cartTotal(form),
		payment_method: 'pix',
		cart,
		// Several deployments demand it even for PIX.
		installments: more.installments ?? 1,
		customer: Object.keys(customer).length > 0 ? customer : undefined,
		tracking: Object.keys(tracking).length > 0 ? tracking : undefined,
		webhook_url: notificationUrl,
	});
	return withCustomFields(body, more.customFields);
}

const word = z
	.union([z.string(), z.number().transform(String)])
	.optional()
	.catch(undefined);
const describedSchema = z.object({
	amount: z.number().optional().catch(undefined),
	cart: z
		.array(z.object({ quantity: word, title: word, offer_hash: word }).catch({}))
		.optional()
		.catch(undefined),
	customer: z.object({ document: word }).optional().catch(undefined),
});

/**
 * A charge in a few words, to look it up by: cart, amount, last digits of the document. As it is
 * sent, Custom Fields included.
 */
export function describeCharge(body: IDataObject): string {
	const { amount, cart = [], customer } = describedSchema.parse(body);
	const items = cart.map(
		({ quantity = '1', title, offer_hash: hash }) => `${quantity} x ${title ?? hash ?? 'item'}`,
	);
	return [
		`cart ${items.length === 0 ? 'empty' : items.join(', ')}`,
		amount === undefined ? undefined : `amount ${formatReais(amount)}`,
		customer?.document === undefined
			? undefined
			: `customer document ending in ${customer.document.slice(-4)}`,
	]
		.filter((part) => part !== undefined)
		.join('; ');
}
