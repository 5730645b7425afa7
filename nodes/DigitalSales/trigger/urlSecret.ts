import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';
import type { Account } from '../api/account';

const STATIC_DATA_KEY = 'urlSecret';
const QUERY_NAME = 'key';
const SECRET_BYTES = 24;

/** The secret of a published trigger; undefined if there is none. */
export function urlSecretOf(nodeData: IDataObject): string | undefined {
	const secret = nodeData[STATIC_DATA_KEY];
	return typeof secret === 'string' && secret !== '' ? secret : undefined;
}

/**
 * Derives the secret of a trigger from its account and node. It is not random, because what is stored
 * can be lost: a worker of n8n that was given no static data replaces all of it.
 */
export function deriveUrlSecret(
	context: Pick<IHookFunctions | IWebhookFunctions, 'getNode' | 'getWorkflow'>,
	account: Account,
): string {
	const owner = `${context.getWorkflow().id} ${context.getNode().id}`;
	const secret = createHmac('sha256', account.key).update(`url secret ${owner}`).digest();
	return secret.subarray(0, SECRET_BYTES).toString('base64url');
}

/**
 * Stores the secret of a trigger. It survives unpublishing and a change of the API token, since
 * earlier charges carry it in their notification address.
 */
export function storeUrlSecret(nodeData: IDataObject, secret: string): void {
	nodeData[STATIC_DATA_KEY] = secret;
}

/** Removes the secret of a trigger. */
export function dropUrlSecret(nodeData: IDataObject): void {
	delete nodeData[STATIC_DATA_KEY];
}

/** An address with the secret in its query. */
export function withUrlSecret(url: string, secret: string): string {
	const address = new URL(url);
	address.searchParams.set(QUERY_NAME, secret);
	return address.href;
}

/** Whether an address has a secret in its query. */
export function hasUrlSecret(url: string): boolean {
	return URL.canParse(url) && new URL(url).searchParams.has(QUERY_NAME);
}

/** Whether the query of a notice has the right secret, compared in constant time. */
export function matchesUrlSecret(query: object, secret: string): boolean {
	const given: unknown = Reflect.get(query, QUERY_NAME);
	if (typeof given !== 'string') return false;
	return timingSafeEqual(digest(given), digest(secret));
}

/** Gives both sides the same length, as the comparison requires. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
