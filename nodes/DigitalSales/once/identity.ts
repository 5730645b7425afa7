import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import type { Account } from '../api/account';
import { isJsonObject } from '../shared/json';
import { parseDocument } from '../domain/document';
import { digest, isTool, originOf } from './execution';
import type { ExecutionMemory } from './executionMemory';

/** What makes something the same when it is asked for again. */
export interface Identity {
	/** Where it is made in the execution; only the execution itself knows it by this name. */
	spot: string;
	/** The same among all executions: the execution as it first began, the run of the node, the item. */
	place: string;
	/** The same again, but by who and what instead of the item: a Retry may have other rows in other order. */
	share: string;
	/** The Order Reference, if there is one. */
	order?: string;
	/** Who it is for, and what, in any execution. */
	doubt: string;
	/** The call of an agent, which repeats calls and has no place that stays the same. */
	call?: string;
}

/** What is asked for, of which an identity is made. */
export interface Wanted {
	/** Who and what alone, without account and node. */
	fingerprint: string;
	orderReference?: string;
	itemIndex: number;
}

/**
 * Works out the identity of one item. Order, doubt and call hold the account, so that one account
 * never answers for another; a place is one whatever the credential is by now.
 */
export function identify(
	context: IExecuteFunctions,
	account: Account,
	memory: ExecutionMemory,
	{ fingerprint, orderReference, itemIndex }: Wanted,
): Identity {
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents run a node without a workflow, and give it another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const origin = originOf(context);
	const call = digest('call', ...scope, fingerprint, orderReference ?? '');
	const run = String(memory.run());
	const spot = isTool(context) ? [call] : [run, String(itemIndex)];
	const unmistakable = origin.isUnique ? [] : [fingerprint];
	const nth = String(memory.count(fingerprint));
	return {
		spot: digest(...spot),
		place: digest('place', ...node, origin.name, ...spot, ...unmistakable),
		share: digest('share', ...node, origin.name, isTool(context) ? call : run, fingerprint, nth),
		...(orderReference === undefined ? {} : { order: digest('order', ...scope, orderReference) }),
		doubt: digest('doubt', ...scope, fingerprint),
		...(isTool(context) ? { call } : {}),
	};
}

const text = z
	.union([z.string(), z.number().transform(String)])
	.optional()
	.catch(undefined);
const customerSchema = z
	.object({ document: text, email: text, phone_number: text, name: text })
	.catch({});

/**
 * Who is charged for what: customer, cart and amount. A customer is known by the document, else the
 * e-mail address, else the phone, so that spelling the name otherwise makes nobody else of them; an
 * offer is known by its hash, not by its title.
 *
 * @param body of POST /transactions (API document, Endpoint 3)
 */
export function chargeFingerprint(body: IDataObject): string {
	const cart = Array.isArray(body.cart) ? body.cart.map(cartItem).sort() : [];
	return digest('charge', JSON.stringify([customerOf(body), cart, plain(body.amount)]));
}

function customerOf(body: IDataObject): string[] {
	const { document, email, phone_number: phone, name } = customerSchema.parse(body.customer);
	const known = parseDocument(document);
	if ('value' in known) return [known.value];
	const other =
		email?.trim().toLowerCase() ||
		phone?.replace(/\D/g, '').replace(/^55(?=\d{10,11}$)/, '') ||
		name?.trim().toLowerCase();
	// A document that is none, such as all zeros, may stand for anybody.
	return [document ?? '', other ?? ''];
}

function cartItem(item: unknown): string {
	if (!isJsonObject(item)) return JSON.stringify(item);
	const { offer_hash: hash, title, price, quantity, operation_type: type } = item;
	// The items are sorted, so they have to look the same before.
	return JSON.stringify([hash ?? title, price, quantity, type].map(plain)).normalize('NFC');
}

/** A number that was written as text is the same number. */
function plain(value: unknown): unknown {
	if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
	return value ?? null;
}

/** An offer as it is asked for. */
export function offerFingerprint(productHash: string, body: IDataObject): string {
	return digest('offer', productHash, JSON.stringify(Object.entries(body).sort()));
}
