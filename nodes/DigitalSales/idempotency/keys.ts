import { compact, difference } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { Account } from '../api';
import { normalizeUnicode } from '../domain';
import { isRetry, originKey } from '../n8n';
import { digest } from '../shared';
import type { ExecutionMemory, ItemNumber } from './executionMemory';

export interface KeySource {
	context: IExecuteFunctions;
	account: Account;
	memory: ExecutionMemory;
	itemIndex: number;
	isAgentCall: boolean;
	fingerprint: string;
	/** Missing for offers. */
	purchaseFingerprint?: string;
	/** The fingerprint before the catalog filled blank prices. The catalog may change. */
	typedFingerprint?: string;
	/** Missing if the charge has only the customer's name. */
	customerFingerprint?: string;
	/** From `fingerprintAgentCall`. An agent gets an earlier charge only if this is equal, too. */
	agentCall?: string;
	orderReference?: string;
}

/** The item key is for the execution's own data, the slot keys also for a Retry after a crash, the others for all executions. */
export interface Keys {
	itemKey: string;
	/** Of the purchase, then of the customer. */
	itemNumbers: ItemNumber[];
	/** Of the execution, with purchase or customer, and the item's number. */
	slotKeys: string[];
	orderKey?: string;
	/** A code contains it, so it allows no other request. In the ledger, it replaces a missing order key. */
	requestKey: string;
	/** Finds a call that an agent repeats in another execution. */
	agentCallKey?: string;
	/** Whether an attempt in the slot counts as this item's. In a tool, only in a Retry: an agent may order again. */
	returnsToSlot: boolean;
	/** Keys that other executions may also claim come first. */
	ledgerKeys: string[];
	/** The ledger keys that stay until the outcome is known. */
	doubtKeys: string[];
	lastingKeys: string[];
}

/** Takes the item's number, so it is called once for each item, in order. */
export function makeKeys(request: KeySource): Keys {
	const { context, account, memory, fingerprint, itemIndex, isAgentCall } = request;
	const reference = request.orderReference && normalizeUnicode(request.orderReference);
	const scope = scopeOf(request);
	const call = [account.key, ...scope, fingerprint, request.agentCall ?? ''];
	const agentCallKey = makeKey('call', ...call, reference ?? '');
	const itemNumbers = memory.numberItem(
		compact([purchaseOf(request), request.customerFingerprint]),
	);
	// A Retry may add an Order Reference, so the slot does not contain it.
	const slots = isAgentCall
		? [call]
		: itemNumbers.map(({ fingerprint: one, number }) => [one, String(number)]);
	const returnsToSlot = isRetry(context) || !isAgentCall;
	const origin = originKey(context);
	const slotScope = context.getWorkflow().id ? scope : [];
	const slotKeys = slots.map((slot) => makeKey('slot', ...slotScope, origin, ...slot));
	const orderKey = reference === undefined ? undefined : makeKey('order', ...scope, reference);
	/** While an outcome is unknown. */
	const purchaseKey = makeKey('purchase', ...scope, purchaseOf(request));
	const requestKey = makeKey('request', ...scope, fingerprint);
	const ledgerKeys = [orderKey ?? requestKey, purchaseKey, ...slotKeys];
	const doubtKeys = ledgerKeys.filter(isDoubtKey);
	return {
		itemKey: isAgentCall
			? digest(agentCallKey)
			: digest(String(memory.runNumber()), String(itemIndex)),
		itemNumbers,
		slotKeys,
		orderKey,
		requestKey,
		agentCallKey: isAgentCall ? agentCallKey : undefined,
		returnsToSlot,
		ledgerKeys,
		doubtKeys,
		lastingKeys: difference(ledgerKeys, doubtKeys),
	};
}

export function resultKey(request: KeySource, hash: unknown): string {
	return makeKey('result', ...scopeOf(request), String(hash));
}

/** The node, not the account, because a new token or a corrected Base URL must not charge earlier orders again. */
function scopeOf({ context, account }: KeySource): string[] {
	const { id } = context.getWorkflow();
	// n8n's Agents run the node without a workflow, and with another id each time.
	return id ? [id, context.getNode().id] : [account.key];
}

export function purchaseOf(
	request: Pick<KeySource, 'fingerprint' | 'purchaseFingerprint'>,
): string {
	return request.purchaseFingerprint ?? request.fingerprint;
}

export function isSlotKey(key: string): boolean {
	return key.startsWith('slot ');
}

export function isDoubtKey(key: string): boolean {
	return /^(request|purchase) /.test(key);
}

export function isResultKey(key: string): boolean {
	return key.startsWith('result ');
}

function makeKey(kind: string, ...parts: string[]): string {
	return `${kind} ${digest(...parts)}`;
}
