import type { ILoadOptionsFunctions, INode } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';
import { CREDENTIAL_NAME, readAccount } from '../api/account';
import { CATALOG_LIMITS } from '../api/catalog';
import { Client } from '../api/client';
import { ServiceError } from '../api/outcome';
import { toFailure, type NodeError } from '../output/errors';

/** A client for a person who waits for an open list. */
export async function listClient(context: ILoadOptionsFunctions): Promise<Client> {
	const credential = await context.getCredentials(CREDENTIAL_NAME);
	return new Client(context, readAccount(credential), CATALOG_LIMITS);
}

export function emptyList(node: INode, what: string): NodeApiError {
	return listFailure(
		node,
		`This account has no ${what} yet`,
		`Create one in the service and open the list again, or enter a hash with By Hash. If the account does have ${what}, check which account the credential belongs to.`,
	);
}

export function listError(node: INode, error: unknown): NodeError {
	const isLimited = error instanceof ServiceError && error.outcome.kind === 'rateLimited';
	if (!isLimited) return toFailure(node, error, { isSent: false }).error;
	return listFailure(
		node,
		'Rate limit reached. Try again in a minute.',
		'The service allows 20 product requests a minute for the whole account, running workflows included. Open the list again in a minute, or enter the hash with By Hash.',
	);
}

/** n8n passes the description of a NodeApiError on to the editor, and of no other error. */
function listFailure(node: INode, message: string, description: string): NodeApiError {
	return new NodeApiError(node, { message }, { message, description, level: 'info' });
}
