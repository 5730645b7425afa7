import { randomUUID } from 'node:crypto';
import {
	ACTION,
	cartOf,
	createPix,
	type NodeSketch,
	TRIGGER,
} from '../../host/e2e/stage/workflows';
import type { Sandbox } from '../../sandbox';

type Parameters = Record<string, unknown>;
type SavedCredential = { id: string; name: string };

/** Starts a published workflow with a POST and answers when its last node has ended. */
export function startAndAnswer(path: string, responseData: 'noData' | 'allEntries'): NodeSketch {
	return {
		name: 'Start',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, responseMode: 'lastNode', responseData, options: {} },
	};
}

/** Our Get Many of all products, whole, as the peer gives them. */
export function listProducts(options: Parameters = {}): NodeSketch {
	return {
		name: 'List',
		type: ACTION,
		parameters: {
			resource: 'product',
			operation: 'getAll',
			returnAll: true,
			simplify: false,
			options,
		},
	};
}

/** Our Get of the transaction of each item. */
export function getTransactions(): NodeSketch {
	return {
		name: 'Get',
		type: ACTION,
		parameters: {
			resource: 'transaction',
			operation: 'get',
			transactionHash: '={{ $json.hash }}',
			simplify: false,
		},
	};
}

/** Our trigger. */
export function paidSale(webhookId: string): NodeSketch {
	return {
		name: 'Sale',
		type: TRIGGER,
		webhookId,
		parameters: { triggerOn: ['paid'], simplify: false },
	};
}

/** A trigger that does nothing; without `starts` it takes a webhook and starts nothing. */
export function floorTrigger(webhookId: string, starts = true): NodeSketch {
	const type = 'CUSTOM.floorTrigger';
	return { name: 'Floor', type, typeVersion: 2, webhookId, parameters: { starts } };
}

/** A node that does nothing. */
export const FLOOR_ACTION: NodeSketch = { name: 'Floor', type: 'CUSTOM.floorAction' };

/** What {@link FLOOR} needs to hand a number of items on. */
export const bodyOfFloor = (count: number) => ({
	hashes: Array.from({ length: count }, (_, nth) => `n${nth}`),
});

/** n8n itself with as many items: they come in with the start, and a node hands them on. */
export const FLOOR: NodeSketch[] = [splitOut('body.hashes', 'hash'), FLOOR_ACTION];

/** Our Create PIX of a charge with everything given. */
export function createCharges(sandbox: Sandbox): NodeSketch {
	return createPix({
		cart: cartOf(sandbox),
		customerDocument: '={{ $json.document }}',
		notify: 'none',
		qrCodeImage: false,
	});
}

/** The last node of both sides where something has to follow. */
export const DONE: NodeSketch = { name: 'Done', type: 'n8n-nodes-base.noOp' };

/** Turns a list inside of an item into items. */
export function splitOut(field: string, as?: string): NodeSketch {
	return {
		name: `Split Out ${field}`,
		type: 'n8n-nodes-base.splitOut',
		parameters: {
			fieldToSplitOut: field,
			options: as === undefined ? {} : { destinationFieldName: as },
		},
	};
}

/** n8n's own HTTP Request, authenticated as its users would do it. */
export function httpRequest(
	credential: SavedCredential,
	url: string,
	parameters: Parameters = {},
): NodeSketch {
	return {
		name: 'HTTP Request',
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.5,
		credentials: { httpBearerAuth: { id: credential.id, name: credential.name } },
		parameters: {
			url,
			authentication: 'genericCredentialType',
			genericAuthType: 'httpBearerAuth',
			options: {},
			...parameters,
		},
	};
}

/** Pagination by the address of the next page that is in the answer. */
export function byNextUrl(requestInterval = 0): Parameters {
	return {
		options: {
			pagination: {
				pagination: {
					paginationMode: 'responseContainsNextURL',
					nextURL: '={{ $response.body.links.next }}',
					paginationCompleteWhen: 'other',
					completeExpression: '={{ $response.body.links.next === null }}',
					requestInterval,
				},
			},
		},
	};
}

/** Pagination by number, with a page size: the address of the next page would drop it. */
export function byPageNumber(pageSize: number): Parameters {
	return {
		sendQuery: true,
		queryParameters: { parameters: [{ name: 'per_page', value: String(pageSize) }] },
		options: {
			pagination: {
				pagination: {
					paginationMode: 'updateAParameterInEachRequest',
					parameters: {
						parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }],
					},
					paginationCompleteWhen: 'other',
					completeExpression: '={{ $response.body.links.next === null }}',
				},
			},
		},
	};
}

/** Takes a notice in and answers it at once, as the Webhook node does where nothing is set. */
export function webhook(path: string): NodeSketch {
	return {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, options: {} },
	};
}

/** Lets through what is paid. */
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
