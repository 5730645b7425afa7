import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { normalizeUnicode } from '../domain/text';
import { originKey } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import { digest } from '../shared/digest';
import type { ExecutionMemory } from './executionMemory';

export interface KeySource {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	itemIndex: number;
	fingerprint: string;
	/** The fingerprint before the catalog, which may change, filled blank prices. */
	typedFingerprint?: string;
	/** Missing for offers. */
	goodsFingerprint?: string;
	/** Missing if the charge has only the customer's name. */
	customerFingerprint?: string;
	/** An agent gets an earlier charge only for an equal call. */
	agentCall?: string;
	orderReference?: string;
}

/** The item key is for the execution's own data, the slot key for its Retries too, the others for all executions. */
export interface Keys {
	itemKey: string;
	/** The execution, the goods, and how many equal items came before. No item index, because a Retry may reorder the items. */
	slotKey: string;
	orderKey?: string;
	/** Customer and goods, while an outcome is unknown. */
	unresolvedKey: string;
	/** The whole request, because an override code allows no other. */
	requestKey: string;
	/** An agent may repeat its call in another slot. */
	agentCallKey?: string;
	lastingKeys: string[];
	/** Keys that other executions may also claim come first. */
	ledgerKeys: string[];
}

/** Except in an agent's call, the slot does not contain the account, because a Retry may use another credential. */
export function makeKeys(request: KeySource): Keys {
	const { context, account, memory, fingerprint, itemIndex } = request;
	const goods = request.goodsFingerprint ?? fingerprint;
	const reference = request.orderReference && normalizeUnicode(request.orderReference);
	const isAgentCall = isTool(context);
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents give a node another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	const scope = [account.key, ...node];
	const call = [...scope, fingerprint, request.agentCall ?? ''];
	const agentCallKey = makeKey('call', ...call, reference ?? '');
	// A Retry may add an Order Reference, so the slot does not contain it.
	const slot = isAgentCall ? call : [goods, String(memory.numberAlike(goods, itemIndex))];
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
