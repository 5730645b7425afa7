import { randomUUID } from 'node:crypto';
import type { NodeSketch } from '../../helpers/e2e/workflows';
import type { SavedCredential } from '../../helpers/n8n/rest';

type Parameters = Record<string, unknown>;

/** Answers at once, as the Webhook node does by default. */
export function webhook(path: string, more: Parameters = {}): NodeSketch {
	return {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2.1,
		webhookId: randomUUID(),
		parameters: { httpMethod: 'POST', path, options: {}, ...more },
	};
}

/** A trigger that does nothing. Without `starts`, its webhook starts no execution. */
export function floorTrigger(webhookId: string, starts = true): NodeSketch {
	const type = 'CUSTOM.floorTrigger';
	return { name: 'Floor', type, typeVersion: 2, webhookId, parameters: { starts } };
}

export function splitOut(fieldToSplitOut: string, destinationFieldName?: string): NodeSketch {
	return {
		name: 'Split Out',
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

/** Pagination by number, for a user who knows the parameter of the page size. */
export const PAGED: Parameters = {
	sendQuery: true,
	queryParameters: { parameters: [{ name: 'per_page', value: '100' }] },
	options: {
		pagination: {
			pagination: {
				paginationMode: 'updateAParameterInEachRequest',
				parameters: { parameters: [{ type: 'qs', name: 'page', value: '={{ $pageCount + 1 }}' }] },
				paginationCompleteWhen: 'other',
				completeExpression: '={{ $response.body.links.next === null }}',
			},
		},
	},
};

const isPaid = {
	id: 'paid',
	leftValue: '={{ $json.payment_status }}',
	rightValue: 'paid',
	operator: { type: 'string', operation: 'equals' },
};

export const IF_PAID: NodeSketch = {
	name: 'If',
	type: 'n8n-nodes-base.if',
	typeVersion: 2.3,
	parameters: {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 3 },
			combinator: 'and',
			conditions: [isPaid],
		},
		options: {},
	},
};
