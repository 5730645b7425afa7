import type { IDataObject } from 'n8n-workflow';
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

/** What the secret of a trigger is derived from. */
export interface SecretOwner {
	account: Account;
	workflowId: string | undefined;
	nodeId: string;
}

/**
 * The secret of a trigger, derived from its account and node, not random: what is stored can be lost,
 * because a worker of n8n that was given no static data replaces all of it.
 */
export function deriveUrlSecret({ account, workflowId, nodeId }: SecretOwner): string {
	const made = createHmac('sha256', account.key).update(`url secret ${workflowId} ${nodeId}`);
	return made.digest().subarray(0, SECRET_BYTES).toString('base64url');
}

/**
 * The stored secret of a trigger, or a new one. It survives unpublishing and a change of the API token,
 * since earlier charges carry it in their notification address.
 */
export async function keepUrlSecret(
	nodeData: IDataObject,
	owner: () => Promise<SecretOwner>,
): Promise<string> {
	const secret = urlSecretOf(nodeData) ?? deriveUrlSecret(await owner());
	nodeData[STATIC_DATA_KEY] = secret;
	return secret;
}

/** Removes the secret of a trigger without one. */
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

/** Whether the query of a notice has the right secret; compared in constant time. */
export function opensLock(query: object, secret: string): boolean {
	const given: unknown = Reflect.get(query, QUERY_NAME);
	if (typeof given !== 'string') return false;
	return timingSafeEqual(digest(given), digest(secret));
}

/** Gives both sides the same length, as the comparison requires. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
