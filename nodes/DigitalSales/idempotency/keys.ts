import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { composed } from '../domain/text';
import { originOf } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import { digest } from '../shared/digest';
import type { ExecutionMemory } from './executionMemory';

/** What the idempotency keys of a charge or an offer are made from. */
export interface KeyedRequest {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	itemIndex: number;
	/** Identifies customer, cart and amount, or the whole offer. */
	fingerprint: string;
	/** The fingerprint before the catalog filled blank prices, which may change until a Retry. */
	typedFingerprint?: string;
	/** Identifies customer and cart without prices. Offers have none. */
	goodsFingerprint?: string;
	/** Missing if a name is all that is known of the customer. */
	customerFingerprint?: string;
	/** Everything else an agent's call contains: only an equal call may be answered with its charge. */
	agentCall?: string;
	orderReference?: string;
}

/** The idempotency keys of one item. Only an item key is unique within the execution alone. */
export interface Keys {
	itemKey: string;
	/** Execution, run and goods. A Retry may bring the rows in another order. */
	slotKey: string;
	/** The Order Reference, in any execution. */
	orderKey?: string;
	/** Customer and goods at any price, in any execution, while an outcome is unknown. */
	unresolvedKey: string;
	/** Everything that is requested: an override code allows nothing else. */
	requestKey: string;
	/** An agent repeats its calls, and has no slot that would stay the same. */
	agentCallKey?: string;
	/** The keys that stay claimed once the outcome is known. */
	lastingKeys: string[];
	/** All keys that are claimed before a request is sent. The first ones are those that others may claim too. */
	ledgerKeys: string[];
}

/**
 * Makes the keys of an item. All but the slot contain the account, so that accounts stay apart. A Retry may come
 * with another credential.
 */
export function makeKeys(request: KeyedRequest): Keys {
	const { context, account, memory, fingerprint, itemIndex } = request;
	const goods = request.goodsFingerprint ?? fingerprint;
	const reference = request.orderReference && composed(request.orderReference);
	const isAgentCall = isTool(context);
	const run = String(memory.runNumber());
	const nth = String(memory.countEarlierAlike(goods, itemIndex));
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents run a node without a workflow, and give it another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const call = [...scope, fingerprint, request.agentCall ?? ''];
	const agentCallKey = makeKey('call', ...call, reference ?? '');
	// A Retry may add an Order Reference, so the slot does not contain it.
	const slot = isAgentCall ? call : [run, goods];
	const slotKey = makeKey('slot', ...node, originOf(context), ...slot, nth);
	const orderKey = reference === undefined ? undefined : makeKey('order', ...scope, reference);
	const orderKeys = orderKey === undefined ? [] : [orderKey];
	const unresolvedKey = makeKey('unresolved', ...scope, goods);
	return {
		itemKey: isAgentCall ? digest(agentCallKey) : digest(run, String(itemIndex)),
		slotKey,
		orderKey,
		unresolvedKey,
		requestKey: makeKey('request', ...scope, fingerprint),
		agentCallKey: isAgentCall ? agentCallKey : undefined,
		lastingKeys: [...orderKeys, slotKey],
		ledgerKeys: [...orderKeys, unresolvedKey, slotKey],
	};
}

/** The key of a transaction or an offer, by its hash. */
export function resultKey(account: Account, hash: unknown): string {
	return makeKey('result', account.key, String(hash));
}

/** The key of a hash that a person has entered as Charge in Doubt. */
export function enteredHashKey(account: Account, hash: string): string {
	return makeKey('entered', account.key, hash);
}

/** The kind comes first, because the memory of the process keeps orders apart. */
function makeKey(kind: string, ...parts: string[]): string {
	return `${kind} ${digest(...parts)}`;
}
