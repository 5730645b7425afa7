import type { IDataObject } from 'n8n-workflow';
import { createHash, createHmac, timingSafeEqual } from 'crypto';
import type { Account } from '../api/account';

const STATIC_DATA_KEY = 'urlSecret';
const QUERY_NAME = 'key';
const SECRET_BYTES = 24;

/** The secret of a published trigger; undefined where there is none. */
export function urlSecretOf(nodeData: IDataObject): string | undefined {
	const secret = nodeData[STATIC_DATA_KEY];
	return typeof secret === 'string' && secret !== '' ? secret : undefined;
}

/** What makes the secret of one trigger another than that of the next. */
export interface SecretOwner {
	account: Account;
	workflowId: string | undefined;
	nodeId: string;
}

/**
 * The secret of a trigger, made of its account and its place. Chance would make one as good, but what
 * is stored can be lost: a worker of n8n that was not given a workflow's static data replaces it.
 */
export function deriveUrlSecret({ account, workflowId, nodeId }: SecretOwner): string {
	const made = createHmac('sha256', account.key).update(`url secret ${workflowId} ${nodeId}`);
	return made.digest().subarray(0, SECRET_BYTES).toString('base64url');
}

/**
 * The secret of a trigger that wants one, made where none is stored. It outlives unpublishing and
 * another API token, since charges that were made before carry it in their notification address.
 */
export async function keepUrlSecret(
	nodeData: IDataObject,
	owner: () => Promise<SecretOwner>,
): Promise<string> {
	const secret = urlSecretOf(nodeData) ?? deriveUrlSecret(await owner());
	nodeData[STATIC_DATA_KEY] = secret;
	return secret;
}

/** Forgets the secret of a trigger that wants none. */
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

/** Whether the query of a notice has the right secret. How long that takes tells nothing of it. */
export function opensLock(query: object, secret: string): boolean {
	const given: unknown = Reflect.get(query, QUERY_NAME);
	if (typeof given !== 'string') return false;
	return timingSafeEqual(digest(given), digest(secret));
}

/** Both sides get the same length, which the comparison needs and which hides the real one. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
