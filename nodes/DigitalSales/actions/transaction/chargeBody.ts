import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Account } from '../../api';
import { type Contact, normalizeContact, parseDocument } from '../../domain';
import { addCustomFields, displayPath, wholeNumberSchema } from '../../form';
import { NotSentError } from '../../output';
import { digest, lenientText } from '../../shared';
import { type ChargeForm, chargeForm } from './create.form';

/* The body of a charge as the form and Custom Fields say it: what they ask for, and when two ask for the same. */

const lineSchema = z
	.object(
		{
			offer_hash: lenientText,
			title: lenientText,
			cover: lenientText,
			/** In cents. */
			price: wholeNumberSchema(0).nullish(),
			quantity: wholeNumberSchema(0).default(1),
		},
		{ message: 'must be an object' },
	)
	.passthrough();
export type CartLine = z.output<typeof lineSchema>;

const contactSchema = z
	.object({
		document: lenientText,
		email: lenientText,
		phone_number: lenientText,
		name: lenientText,
	})
	.catch({})
	.transform(normalizeContact);

/** @internal */
export const bodySchema = z.object({
	/** In cents. */
	amount: wholeNumberSchema(1).optional(),
	cart: z
		.array(lineSchema, { message: 'must be a list' })
		.nullish()
		.transform((lines) => lines ?? []),
	customer: z
		.unknown()
		.transform((given) => ({ contact: contactSchema.parse(given), json: JSON.stringify(given) })),
	// Custom Fields may name the offer or the product outside the cart.
	offer_hash: z.unknown(),
	product_hash: z.unknown(),
});
type AskedFor = z.output<typeof bodySchema>;

export function buildBody(
	{ notificationField }: Account,
	form: ChargeForm,
	notificationUrl: string | undefined,
): IDataObject {
	const fields = {
		// In a second field, too, if the credential names one.
		...(notificationField && notificationUrl && { [notificationField]: notificationUrl }),
		payment_method: 'pix',
		installments: 1,
		...chargeForm.body(form),
		webhook_url: notificationUrl,
	};
	const { customFields } = form.additionalFields;

	return addCustomFields(chargeForm, fields, customFields, ['cart', 'customer']);
}

/** @throws NotSentError that names the part of Custom Fields, because the form's own fields are checked already */
export function readBody(body: IDataObject): AskedFor {
	const { success, data, error } = bodySchema.safeParse(body);
	if (success) return data;

	const [{ path = [], message = '' } = {}] = error.issues;
	const field = displayPath(chargeForm, ['additionalFields', 'customFields', ...path]);
	throw new NotSentError(
		`${field} ${message}`,
		'Correct the field, or leave it out. Amounts in Custom Fields are in cents.',
	);
}

/** What `makeKeys` needs, from the body as it was typed, because the catalog may change. */
export function identifyCharge(body: AskedFor) {
	const { email = '', phone = '' } = body.customer.contact;

	return {
		fingerprint: fingerprintCharge(body),
		contactDigest: digest(email, phone),
		customer: digest('customer', ...identifyCustomer(body.customer)),
	};
}

/**
 * Identifies a charge by customer (document, else e-mail address, else phone, else all fields), cart (of each line: offer
 * hash, else title, price as typed, quantity and operation type) and, of Custom Fields, amount, offer and product.
 *
 * @internal
 */
export function fingerprintCharge(body: AskedFor): string {
	const { customer, cart, amount, offer_hash, product_hash } = body;
	const lines = cart.map(identifyLine).sort();
	const parts = [identifyCustomer(customer), lines, amount, offer_hash, product_hash];

	return digest('charge', JSON.stringify(parts).normalize());
}

function identifyCustomer({ contact, json }: { contact: Contact; json?: string }): string[] {
	const { document = '', email, phone } = contact;
	if ('value' in parseDocument(document)) return [document];

	// An invalid document, such as all zeros, is not enough. Several people may share a name.
	return [document, email || phone || json || ''];
}

function identifyLine(line: CartLine): string {
	const { price, quantity, operation_type } = line;
	const name = line.offer_hash || line.title;
	// Custom Fields may name the offer in another way.
	if (!name) return JSON.stringify(line).normalize();

	// Not its other Custom Fields, which may contain the time or the execution's id.
	return JSON.stringify([name, price, quantity, String(operation_type)]).normalize();
}
