import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';
import type { Account } from '../api/account';
import { isJsonObject } from '../api/schemas/json';
import { digest, executionName, isTool } from './execution';
import type { ExecutionMemory } from './executionMemory';

/**
 * What makes something the same when it is asked for again. Every name holds the account, so that
 * one account never answers for another.
 */
export interface Identity {
	/** Where it is made: the execution as it first began, the run of the node, the item. */
	place: string;
	/** The Order Reference, where there is one. */
	order?: string;
	/** Who it is for, and what. */
	fingerprint: string;
	/** The call of an agent, which repeats calls and has no place that stays the same. */
	call?: string;
}

/** What is asked for, of which an identity is made. */
export interface Wanted {
	/** Who and what, as {@link chargeFingerprint} gives it. */
	fingerprint: string;
	orderReference?: string;
	itemIndex: number;
}

/** Works out the identity of one item. */
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
	const call = digest('call', ...scope, fingerprint, orderReference ?? '');
	const spot = isTool(context) ? [call] : [String(memory.run()), String(itemIndex)];
	return {
		place: digest('place', ...scope, executionName(context), ...spot),
		...(orderReference === undefined ? {} : { order: digest('order', ...scope, orderReference) }),
		fingerprint: digest('fingerprint', ...scope, fingerprint),
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
	const { document, email, phone_number: phone, name } = customerSchema.parse(body.customer);
	const customer =
		document?.toUpperCase().replace(/[^0-9A-Z]/g, '') ||
		email?.trim().toLowerCase() ||
		phone?.replace(/\D/g, '').replace(/^55(?=\d{10,11}$)/, '') ||
		name?.trim().toLowerCase().normalize('NFC');
	const cart = Array.isArray(body.cart) ? body.cart.map(cartItem).sort() : [];
	return digest('charge', JSON.stringify([customer ?? null, cart, body.amount ?? null]));
}

function cartItem(item: unknown): string {
	if (!isJsonObject(item)) return JSON.stringify(item);
	const { offer_hash: hash, title, price, quantity, operation_type: type } = item;
	return JSON.stringify([hash ?? title, price, quantity, type].map((value) => value ?? null));
}

/** An offer as it is asked for. */
export function offerFingerprint(productHash: string, body: IDataObject): string {
	return digest('offer', productHash, JSON.stringify(Object.entries(body).sort()));
}
