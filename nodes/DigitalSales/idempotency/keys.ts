import { reject } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api/account';
import { normalizeUnicode } from '../domain/text';
import { isRetry, originKey } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import { digest } from '../shared/digest';
import type { ExecutionMemory } from './executionMemory';

export interface KeySource {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	itemIndex: number;
	fingerprint: string;
	/** Missing for offers. */
	goodsFingerprint?: string;
	/** The fingerprint before the catalog, which may change, filled blank prices. */
	typedFingerprint?: string;
	/** Missing if the charge has only the customer's name. */
	customerFingerprint?: string;
	/** An agent gets an earlier charge only for an equal call. */
	agentCall?: string;
	orderReference?: string;
}

/** The item key is for the execution's own data, the slot key for its Retries too, the others for all executions. */
export interface Keys {
	itemKey: string;
	/** The execution, the customer, and how many items of the customer came before, because a Retry may reorder items. */
	slotKey: string;
	orderKey?: string;
	/** Customer and goods, while an outcome is unknown. */
	unresolvedKey: string;
	/** The whole request. An override code allows no other. In the ledger, it stands for the missing order. */
	requestKey: string;
	/** An agent may repeat its call in another slot. */
	agentCallKey?: string;
	/** Those that stay when the outcome is known. */
	lastingKeys: string[];
	/** Keys that other executions may also claim come first. */
	ledgerKeys: string[];
}

export function makeKeys(request: KeySource): Keys {
	const { context, account, memory, fingerprint, itemIndex } = request;
	const goods = goodsOf(request);
	const owner = slotOwner(request);
	const reference = request.orderReference && normalizeUnicode(request.orderReference);
	const isAgentCall = isTool(context);
	const { id: workflowId } = context.getWorkflow();
	// n8n's Agents give a node another id each time.
	const node = workflowId ? [workflowId, context.getNode().id] : [];
	// Not the account, because a new token, or a corrected Base URL, must not charge earlier orders again.
	const scope = workflowId ? node : [account.key];
	const call = [account.key, ...scope, fingerprint, request.agentCall ?? ''];
	const agentCallKey = makeKey('call', ...call, reference ?? '');
	// A Retry may add an Order Reference, so the slot does not contain it.
	const slot = isAgentCall ? call : [owner, String(memory.numberAlike(owner, itemIndex))];
	const slotKey = makeKey('slot', ...node, originKey(context), ...slot);
	const orderKey = reference === undefined ? undefined : makeKey('order', ...scope, reference);
	const unresolvedKey = makeKey('unresolved', ...scope, goods);
	const requestKey = makeKey('request', ...scope, fingerprint);
	const ledgerKeys = [orderKey ?? requestKey, unresolvedKey, slotKey];
	return {
		itemKey: isAgentCall
			? digest(agentCallKey)
			: digest(String(memory.runNumber()), String(itemIndex)),
		slotKey,
		orderKey,
		unresolvedKey,
		requestKey,
		agentCallKey: isAgentCall ? agentCallKey : undefined,
		lastingKeys: reject(ledgerKeys, isDoubtKey),
		ledgerKeys,
	};
}

export function resultKey(account: Account, hash: unknown): string {
	return makeKey('result', account.key, String(hash));
}

export function goodsOf(request: Pick<KeySource, 'fingerprint' | 'goodsFingerprint'>): string {
	return request.goodsFingerprint ?? request.fingerprint;
}

/** Without the goods, because they may be changed before a Retry. */
export function slotOwner(request: KeySource): string {
	return request.customerFingerprint ?? goodsOf(request);
}

/** Not in a tool, because an agent may order again. */
export function returnsToSlot(context: IExecuteFunctions): boolean {
	return isRetry(context) || !isTool(context);
}

/** Whether the key stands only while an outcome is unknown. */
export function isDoubtKey(key: string): boolean {
	return /^(request|unresolved) /.test(key);
}

export function isResultKey(key: string): boolean {
	return key.startsWith('result ');
}

/** Starts with the kind, by which the process keeps order keys apart. */
function makeKey(kind: string, ...parts: string[]): string {
	return `${kind} ${digest(...parts)}`;
}
