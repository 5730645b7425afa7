import { randomUUID } from 'node:crypto';
import { ACTION, type NodeSketch, TRIGGER } from '../../helpers/e2e/workflows';
import type { SavedCredential } from '../../helpers/n8n/rest';

type Parameters = Record<string, unknown>;

/** Starts a published workflow with a POST and answers when its last node has ended. */
export function startAndAnswer(path: string, responseData: 'noData' | 'allEntries'): NodeSketch {
	return webhook(path, { responseMode: 'lastNode', responseData });
}

/** Answers a notice at once, as the Webhook node does by default. */
export function webhook(path: string, more: Parameters = {}): NodeSketch {
	return {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, options: {}, ...more },
	};
}

/** Our Get Many of all products, whole, as the peer returns them. */
export function listProducts(options: Parameters): NodeSketch {
	const parameters = { resource: 'product', operation: 'getAll', returnAll: true, simplify: false };
	return { name: 'List', type: ACTION, parameters: { ...parameters, options } };
}

/** Our Get of the transaction of each item. */
export const GET_TRANSACTIONS: NodeSketch = {
	name: 'Get',
	type: ACTION,
	parameters: {
		resource: 'transaction',
		operation: 'get',
		transactionHash: '={{ $json.hash }}',
		simplify: false,
	},
};

export function paidSale(webhookId: string): NodeSketch {
	const parameters = { triggerOn: ['paid'], simplify: false };
	return { name: 'Sale', type: TRIGGER, webhookId, parameters };
}

/** A trigger that does nothing. Without `starts`, its webhook starts no execution. */
export function floorTrigger(webhookId: string, starts = true): NodeSketch {
	const type = 'CUSTOM.floorTrigger';
	return { name: 'Floor', type, typeVersion: 2, webhookId, parameters: { starts } };
}

export function splitOut(fieldToSplitOut: string, destinationFieldName?: string): NodeSketch {
	return {
		name: `Split Out ${fieldToSplitOut}`,
		type: 'n8n-nodes-base.splitOut',
		parameters: { fieldToSplitOut, options: destinationFieldName && { destinationFieldName } },
	};
}

/** n8n's own HTTP Request with the usual authentication. */
export function httpRequest(
	{ id, name }: SavedCredential,
	url: string,
	more: Parameters = {},
): NodeSketch {
	return {
		name: 'HTTP Request',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.5,
		credentials: { httpBearerAuth: { id, name } },
		parameters: {
			url,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpBearerAuth',
			options: {},
			...more,
		},
	};
}

function paged(pagination: Parameters): Parameters {
	const paginationCompleteWhen = 'other';
	const completeExpression = '={{ $response.body.links.next === null }}';
	return {
		pagination: { pagination: { ...pagination, paginationCompleteWhen, completeExpression } },
	};
}

/** Pagination by the address of the next page in the answer. */
export const BY_NEXT_URL: Parameters = {
	options: paged({
		paginationMode: 'responseContainsNextURL',
		nextURL: '={{ $response.body.links.next }}',
	}),
};

/** Pagination by number with a page size, which the address of the next page does not contain. */
export function byPageNumber(pageSize: number): Parameters {
	const page = { type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' };
	return {
		sendQuery: true,
		queryParameters: { parameters: [{ name: 'per_page', value: String(pageSize) }] },
		options: paged({
			paginationMode: 'updateAParameterInEachRequest',
			parameters: { parameters: [page] },
		}),
	};
}

export const IF_PAID: NodeSketch = {
	name: 'If',
	type: 'n8n-nodes-base.if',
	typeVersion: 2.3,
	parameters: {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 3 },
			combinator: 'and',
			conditions: [
				{
					id: 'paid',
					leftValue: '={{ $json.payment_status }}',
					rightValue: 'paid',
					operator: { type: 'string', operation: 'equals' },
				},
			],
		},
		options: {},
	},
};
