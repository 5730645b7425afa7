import { pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { type Contact, normalizeContact, parseDocument } from '../../domain';
import { digest, isJsonObject, lenientText } from '../../shared';

export const customerSchema = z
	.object({
		document: lenientText,
		email: lenientText,
		phone_number: lenientText,
		name: lenientText,
	})
	.catch({});

/**
 * Identifies a charge by customer (document, else e-mail address, else phone, else all fields), cart (offer hashes, else
 * titles) and amount.
 *
 * @param body of POST /transactions (API document, Endpoint 3), as it was typed, because the catalog may change
 */
export function fingerprintCharge(body: IDataObject): string {
	const cart = Array.isArray(body.cart) ? body.cart.map(normalizeCartLine).sort() : [];
	// Custom Fields may name the offer or the product outside the cart.
	const goods = Object.entries(pick(body, ['offer_hash', 'product_hash'])).sort();
	const parts = JSON.stringify([identifyCustomer(body), cart, numberFromText(body.amount), goods]);

	return digest('charge', parts.normalize());
}

export function fingerprintCustomer(body: IDataObject): string {
	return digest('customer', ...identifyCustomer(body));
}

/** Two employees may share the CNPJ of their company, so e-mail address and phone keep their charges apart. */
export function contactKey({ email = '', phone = '' }: Contact): string {
	return digest(email, phone);
}

function identifyCustomer({ customer }: IDataObject): string[] {
	const { document = '', email, phone } = normalizeContact(customerSchema.parse(customer));
	if ('value' in parseDocument(document)) return [document];

	// An invalid document, such as all zeros, is not enough. Several people may share a name.
	return [document, email || phone || JSON.stringify(customer ?? null)];
}

function normalizeCartLine(value: unknown): string {
	const line = isJsonObject(value) ? value : {};
	const name = line.offer_hash || line.title;
	// Custom Fields may name the offer in another way.
	if (!name) return JSON.stringify(value).normalize();

	// Not its other Custom Fields, which may contain the time or the execution's id.
	const numbers = [line.price, line.quantity, line.operation_type].map(numberFromText);
	return JSON.stringify([String(name), ...numbers]).normalize();
}

function numberFromText(value: unknown): unknown {
	if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);

	return value ?? null;
}
