import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod/v3';
import type { Account } from '../api/account';
import { lenientText, tolerated } from '../api/schemas/lenient';
import { isJsonObject } from '../shared/json';
import { parseDocument } from '../domain/customer';
import { composed } from '../domain/text';
import { digest, isTool, originOf } from './execution';
import type { ExecutionMemory } from './memory';

/** The keys that recognize a repeated creation. */
export interface Identity {
	/** Run and item; unique only within the execution. */
	spot: string;
	/** The execution as it first began, run and item. */
	place: string;
	/** The same by fingerprint instead of item: a Retry may have other rows in another order. */
	placeByContent: string;
	/** The Order Reference. */
	order?: string;
	/** The fingerprint within account and node, in any execution. */
	doubt: string;
	/** The call of an agent, which repeats calls and has no stable place. */
	call?: string;
	/** Whether it may be another customer's, so that it is a reason to refuse, but not to return anything. */
	mayBeAnother: boolean;
}

/** What identifies a creation. */
export interface Identifiable {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	/** Who is charged for what, without account and node. */
	fingerprint: string;
	/** Whether the fingerprint may be that of several customers. */
	isVague?: boolean;
	orderReference?: string;
	itemIndex: number;
}

/**
 * Identifies the creation of one item. Order, doubt and call include the account, so that accounts stay
 * apart; a place does not, since a Retry may come with another credential.
 */
export function identify(wanted: Identifiable): Identity {
	const { context, account, memory, fingerprint, orderReference, itemIndex } = wanted;
	// A place tells customers apart, but a call has none.
	const mayBeAnother = wanted.isVague === true && orderReference === undefined && isTool(context);
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents run a node without a workflow, and give it another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const call = digest('call', ...scope, fingerprint, orderReference ?? '');
	const run = String(memory.run());
	const spot = isTool(context) ? [call] : [run, String(itemIndex)];
	const here = [...node, originOf(context)];
	const nth = String(memory.ordinal(fingerprint, itemIndex));
	const content = [isTool(context) ? call : run, fingerprint, nth];
	return {
		spot: digest(...spot),
		place: digest('place', ...here, ...spot),
		placeByContent: digest('placeByContent', ...here, ...content),
		order: orderReference === undefined ? undefined : digest('order', ...scope, orderReference),
		doubt: digest('doubt', ...scope, fingerprint),
		call: isTool(context) && !mayBeAnother ? call : undefined,
		mayBeAnother,
	};
}

/**
 * The keys that are known while the request is under way. First those that others may ask for at the same
 * moment: who has the first of them has all.
 */
export function ledgerKeys({ order, doubt, place, placeByContent }: Identity): string[] {
	return [...(order === undefined ? [] : [order]), doubt, place, placeByContent];
}

/** Those that stay known once its outcome is. */
export function lastingKeys({ place, placeByContent, order }: Identity): string[] {
	return [place, placeByContent, ...(order === undefined ? [] : [order])];
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
	return digest('charge', JSON.stringify([customerOf(body).names, cart, plain(body.amount)]));
}

/** Whether a body names its customer at most by a name, which others may have. */
export function isVagueCharge(body: IDataObject): boolean {
	return customerOf(body).isVague;
}

function customerOf(body: IDataObject): { names: string[]; isVague: boolean } {
	const { document, email, phone_number: phone, name } = customerSchema.parse(body.customer);
	const known = parseDocument(document);
	if ('value' in known) return { names: [known.value], isVague: false };
	const address =
		email?.trim().toLowerCase() || phone?.replace(/\D/g, '').replace(/^55(?=\d{10,11}$)/, '');
	// An invalid document, such as all zeros, identifies nobody alone.
	const names = [document ?? '', address || (name?.trim().toLowerCase() ?? '')];
	return { names, isVague: !address };
}

function cartItem(item: unknown): string {
	const line = isJsonObject(item) ? item : {};
	const { offer_hash: hash, title, price, quantity, operation_type: type } = line;
	const name = hash ?? title;
	const text = typeof name === 'number' ? String(name) : name;
	// Custom Fields may name it otherwise. Normalized before the items are sorted.
	const parts = text == null ? item : [text, ...[price, quantity, type].map(plain)];
	return composed(JSON.stringify(parts));
}

/** A number in a string is the same number. */
function plain(value: unknown): unknown {
	if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
	return value ?? null;
}

/** Which offer is created: the product and the whole body. */
export function offerFingerprint(productHash: string, body: IDataObject): string {
	return digest('offer', productHash, JSON.stringify(Object.entries(body).sort()));
}
