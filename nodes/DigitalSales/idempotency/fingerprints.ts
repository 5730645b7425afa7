import { omit, pick } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { type Contact, normalizeContact, normalizeUnicode, parseDocument } from '../domain';
import { digest, isJsonObject, lenientText, tolerated } from '../shared';

const text = tolerated(lenientText);
const customerSchema = z
	.object({ document: text, email: text, phone_number: text, name: text })
	.catch({});

/**
 * Identifies a charge by customer (document, else e-mail address, else phone, else name, else all fields), cart (offer
 * hashes, else titles) and amount.
 *
 * @param body of POST /transactions (API document, Endpoint 3)
 */
export function fingerprintCharge(body: IDataObject): string {
	const cart = Array.isArray(body.cart) ? body.cart.map(normalizeCartLine).sort() : [];
	const amount = numberFromText(body.amount);
	const parts = JSON.stringify([identifyCustomer(body), cart, amount, ...ownGoods(body)]);
	return digest('charge', normalizeUnicode(parts));
}

/** Identifies a charge by customer and cart without prices; if there is no cart, by customer and amount. */
export function fingerprintPurchase(body: IDataObject): string {
	const { cart } = body;
	if (!Array.isArray(cart) || cart.length === 0) return fingerprintCharge(body);
	const lines = cart.map((line) => (isJsonObject(line) ? pickGoods(line) : line));
	const parts = [identifyCustomer(body), lines.map(normalizeCartLine).sort(), ...ownGoods(body)];
	return digest('purchase', normalizeUnicode(JSON.stringify(parts)));
}

/** Custom Fields of an item may contain the time or the execution's id. */
function pickGoods(line: IDataObject): IDataObject {
	const isNamed = line.offer_hash || line.title;
	return omit(isNamed ? pick(line, KNOWN_LINE_FIELDS) : line, 'price');
}

/** Custom Fields may name the offer or the product beside the cart. */
function ownGoods(body: IDataObject): unknown[] {
	return Object.entries(pick(body, ['offer_hash', 'product_hash'])).sort();
}

export function fingerprintCustomer(body: IDataObject): string {
	return digest('customer', ...identifyCustomer(body));
}

/** What `fingerprintCharge` ignores, without the address for webhooks and the name, which a model may spell differently. */
export function fingerprintAgentCall(body: IDataObject): string {
	const { name: _name, ...contact } = contactOf(body);
	const others = Object.entries(omit(body, ['cart', 'amount', 'customer', 'webhook_url'])).sort();
	return digest('call', normalizeUnicode(JSON.stringify([contact, others])));
}

export function fingerprintOffer(productHash: string, body: IDataObject): string {
	const parts = JSON.stringify([productHash, Object.entries(body).sort()]);
	return digest('offer', normalizeUnicode(parts));
}

function contactOf({ customer }: IDataObject): Contact {
	return normalizeContact(customerSchema.parse(customer));
}

function identifyCustomer(body: IDataObject): string[] {
	const { document, email, phone, name } = contactOf(body);
	if ('value' in parseDocument(document)) return [document ?? ''];
	// An invalid document, such as all zeros, is not enough to identify a customer. Custom Fields may name a customer's
	// fields in another way.
	return [document ?? '', email || phone || name || JSON.stringify(body.customer ?? null)];
}

const KNOWN_LINE_FIELDS = ['offer_hash', 'title', 'cover', 'price', 'quantity', 'operation_type'];

function normalizeCartLine(value: unknown): string {
	const line = isJsonObject(value) ? value : {};
	const { offer_hash: hash, title, price, quantity, operation_type: type } = line;
	const others = Object.entries(omit(line, KNOWN_LINE_FIELDS)).sort();
	const name = hash || title;
	const offer = typeof name === 'number' ? String(name) : name;
	const known = [price, quantity, type].map(numberFromText);
	// Custom Fields may name the offer in another way.
	const parts = offer ? [offer, ...known, ...others] : value;
	return normalizeUnicode(JSON.stringify(parts));
}

function numberFromText(value: unknown): unknown {
	if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
	return value ?? null;
}
