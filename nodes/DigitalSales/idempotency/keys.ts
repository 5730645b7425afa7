import omit from 'lodash/omit';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Account } from '../api/account';
import { lenientText, tolerated } from '../shared/lenient';
import { digest } from '../shared/digest';
import { isJsonObject } from '../shared/json';
import { parseDocument } from '../domain/customer';
import { normalizeUnicode } from '../domain/text';
import { originOf } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import type { ExecutionMemory } from './attempts';

/** The keys that recognize a repeated creation. */
export interface Identity {
	/** Run and item; unique only within the execution. */
	spot: string;
	/** The execution as it first began, run and what was typed: a Retry may have the rows in another order. */
	place: string;
	/** The Order Reference. */
	order?: string;
	/** The fingerprint within account and node, in any execution. */
	doubt: string;
	/** The call of an agent, which repeats calls and has no stable place. */
	call?: string;
	/** Those that stay known once the outcome is. */
	lastingKeys: string[];
	/**
	 * Those that are known while the request is under way. First those that others may ask for at the same
	 * moment: who has the first of them has all.
	 */
	ledgerKeys: string[];
}

/** What identifies a creation. */
export interface Identifiable {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	/** Who is charged for what, without account and node. */
	fingerprint: string;
	/** What else an agent's call says: only the same call may be given what exists. */
	call?: string;
	/** The same before the catalog filled it: its prices may change until a Retry. */
	typed?: string;
	/** Who gets what, at whatever price: until a Retry a price may be typed, blanked or changed. */
	goods?: string;
	/** Whom it charges, if anything but a name says so. */
	customer?: string;
	orderReference?: string;
	itemIndex: number;
}

/** The kind comes first: the memory keeps each kind apart. */
function keyOf(kind: string, ...parts: string[]): string {
	return `${kind} ${digest(...parts)}`;
}

/** The key of what was made, by its hash. */
export function madeKey(account: Account, hash: unknown): string {
	return keyOf('made', account.key, String(hash));
}

/**
 * Identifies the creation of one item. Order, doubt and call include the account, so that accounts stay
 * apart; a place does not, since a Retry may come with another credential.
 */
export function identify(wanted: Identifiable): Identity {
	const { context, account, memory, fingerprint, goods = fingerprint, itemIndex } = wanted;
	const reference = wanted.orderReference && normalizeUnicode(wanted.orderReference);
	const isCall = isTool(context);
	const origin = originOf(context);
	const run = String(memory.run());
	const nth = String(memory.ordinal(goods, itemIndex));
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents run a node without a workflow, and give it another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const said = [...scope, fingerprint, wanted.call ?? ''];
	const call = keyOf('call', ...said, reference ?? '');
	// Without the reference: a Retry may bring one.
	const place = keyOf('place', ...node, origin, ...(isCall ? said : [run, goods]), nth);
	const order = reference === undefined ? [] : [keyOf('order', ...scope, reference)];
	const doubt = keyOf('doubt', ...scope, fingerprint);
	return {
		spot: isCall ? digest(call) : digest(run, String(itemIndex)),
		place,
		order: order[0],
		doubt,
		call: isCall ? call : undefined,
		lastingKeys: [...order, place],
		ledgerKeys: [...order, doubt, place],
	};
}

const text = tolerated(lenientText);
const customerSchema = z
	.object({ document: text, email: text, phone_number: text, name: text })
	.catch({});

/**
 * Who is charged for what: customer, cart and amount. A customer is identified by the document, else
 * the e-mail address, else the phone, else the name; an offer by its hash, else its title.
 *
 * @param body of POST /transactions (API document, Endpoint 3)
 */
export function chargeFingerprint(body: IDataObject): string {
	const cart = Array.isArray(body.cart) ? body.cart.map(cartItem).sort() : [];
	const parts = JSON.stringify([customerOf(body), cart, plain(body.amount)]);
	return digest('charge', normalizeUnicode(parts));
}

/** The same without prices; without a cart the amount is all there is. */
export function goodsFingerprint(body: IDataObject): string {
	const { cart } = body;
	if (!Array.isArray(cart) || cart.length === 0) return chargeFingerprint(body);
	const goods = cart.map((item) => (isJsonObject(item) ? omit(item, 'price') : item));
	return digest(
		'goods',
		normalizeUnicode(JSON.stringify([customerOf(body), goods.map(cartItem).sort()])),
	);
}

function customerOf(body: IDataObject): string[] {
	const { document, email, phone, name } = contactOf(body.customer);
	if ('value' in parseDocument(document)) return [document ?? ''];
	// An invalid document, such as all zeros, identifies nobody alone.
	return [document ?? '', email || phone || (name ?? '')];
}

/** A customer as the service has it, in one spelling. */
export function contactOf(customer: unknown) {
	const { document, email, phone_number: phone, name } = customerSchema.parse(customer);
	const known = parseDocument(document);
	return {
		document: 'value' in known ? known.value : document,
		name: name?.trim().toLowerCase(),
		email: email?.trim().toLowerCase(),
		phone: phone?.replace(/\D/g, '').replace(/^55(?=\d{10,11}$)/, ''),
	};
}

/**
 * All that an agent's call says besides cart and amount, but for the customer's name, which a model may
 * spell in another way, and the address of webhooks, which it does not know.
 *
 * @param body of POST /transactions
 */
export function callFingerprint(body: IDataObject): string {
	const { name: _name, ...contact } = contactOf(body.customer);
	const others = Object.entries(omit(body, ['cart', 'amount', 'customer', 'webhook_url'])).sort();
	return normalizeUnicode(JSON.stringify([contact, others]));
}

function cartItem(item: unknown): string {
	const line = isJsonObject(item) ? item : {};
	const { offer_hash: hash, title, price, quantity, operation_type: type } = line;
	const name = hash ?? title;
	const text = typeof name === 'number' ? String(name) : name;
	// Custom Fields may name it otherwise. Normalized before the items are sorted.
	const parts = text == null ? item : [text, ...[price, quantity, type].map(plain)];
	return normalizeUnicode(JSON.stringify(parts));
}

/** The customer of a charge alone. */
export function customerFingerprint(body: IDataObject): string {
	return digest('customer', ...customerOf(body));
}

/** A number in a string is the same number. */
function plain(value: unknown): unknown {
	if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
	return value ?? null;
}

/** Which offer is created: the product and the whole body. */
export function offerFingerprint(productHash: string, body: IDataObject): string {
	const parts = JSON.stringify([productHash, Object.entries(body).sort()]);
	return digest('offer', normalizeUnicode(parts));
}
