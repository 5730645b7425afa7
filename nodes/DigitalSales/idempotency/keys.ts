import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { normalizeUnicode } from '../domain/text';
import { originKey } from '../n8n/retry';
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
	/** The fingerprint before the catalog filled blank prices. The catalog may have changed at a Retry. */
	typedFingerprint?: string;
	/** Identifies customer and cart without prices. Missing for offers. */
	goodsFingerprint?: string;
	/** Missing if the charge has only the customer's name. */
	customerFingerprint?: string;
	/** Identifies the rest of an agent's call. Only an equal call returns the charge of an earlier call. */
	agentCall?: string;
	orderReference?: string;
}

/** The idempotency keys of one item. The item key is unique within its execution, the others everywhere. */
export interface Keys {
	itemKey: string;
	/** Execution and goods, but no run and no item index, because a Retry may have the items in another order. */
	slotKey: string;
	/** The Order Reference, in any execution. */
	orderKey?: string;
	/** Customer and goods at any price, in any execution, while an outcome is unknown. */
	unresolvedKey: string;
	/** The whole request, because an override code allows no other. */
	requestKey: string;
	/** The call of an agent, which may repeat it in another slot. Missing outside a tool. */
	agentCallKey?: string;
	/** The keys that stay claimed once the outcome is known. */
	lastingKeys: string[];
	/** The keys that are claimed before a request is sent. Keys that other executions may claim, too, come first. */
	ledgerKeys: string[];
}

/** Makes the keys of an item. All keys but the slot contain the account. A Retry may use another credential. */
export function makeKeys(request: KeyedRequest): Keys {
	const { context, account, memory, fingerprint, itemIndex } = request;
	const goods = request.goodsFingerprint ?? fingerprint;
	const reference = request.orderReference && normalizeUnicode(request.orderReference);
	const isAgentCall = isTool(context);
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents run a node without a workflow, and give it another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const call = [...scope, fingerprint, request.agentCall ?? ''];
	const agentCallKey = makeKey('call', ...call, reference ?? '');
	// A Retry may add an Order Reference, so the slot does not contain it.
	const slot = isAgentCall ? call : [goods, String(memory.countEarlierAlike(goods, itemIndex))];
	const slotKey = makeKey('slot', ...node, originKey(context), ...slot);
	const orderKey = reference === undefined ? undefined : makeKey('order', ...scope, reference);
	const orderKeys = orderKey === undefined ? [] : [orderKey];
	const unresolvedKey = makeKey('unresolved', ...scope, goods);
	return {
		itemKey: isAgentCall
			? digest(agentCallKey)
			: digest(String(memory.runNumber()), String(itemIndex)),
		slotKey,
		orderKey,
		unresolvedKey,
		requestKey: makeKey('request', ...scope, fingerprint),
		agentCallKey: isAgentCall ? agentCallKey : undefined,
		lastingKeys: [...orderKeys, slotKey],
		ledgerKeys: [...orderKeys, unresolvedKey, slotKey],
	};
}

export function resultKey(account: Account, hash: unknown): string {
	return makeKey('result', account.key, String(hash));
}

/** Starts with the kind, by which the process keeps order keys apart. */
function makeKey(kind: string, ...parts: string[]): string {
	return `${kind} ${digest(...parts)}`;
}
