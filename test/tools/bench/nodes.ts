import type { NodeSketch } from '../../helpers/e2e/workflows';
import type { SavedCredential } from '../../helpers/n8n/rest';

/* What a user builds with n8n's own nodes. */

export const splitOut = (fieldToSplitOut: string): NodeSketch => ({
	name: 'Split Out',
	type: 'n8n-nodes-base.splitOut',
	parameters: { fieldToSplitOut, options: {} },
});

export const httpRequest = ({ id, name }: SavedCredential, url: string, more = {}): NodeSketch => ({
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
});

/** Pagination by number, for a user who knows the parameter of the page size. */
export const PAGED = {
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
	},
};
