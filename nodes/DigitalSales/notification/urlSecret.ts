import type { IDataObject } from 'n8n-workflow';
import { createHash, randomBytes, timingSafeEqual } from 'crypto';

const STATIC_DATA_KEY = 'urlSecret';
const QUERY_NAME = 'key';
const SECRET_BYTES = 24;

/** The secret of a published trigger; undefined where there is none. */
export function urlSecretOf(nodeData: IDataObject): string | undefined {
	const secret = nodeData[STATIC_DATA_KEY];
	return typeof secret === 'string' && secret !== '' ? secret : undefined;
}

/**
 * The secret of a trigger that wants one, made where there is none yet. It outlives unpublishing,
 * since charges that were made before carry it in their notification address.
 */
export function keepUrlSecret(nodeData: IDataObject): string {
	const secret = urlSecretOf(nodeData) ?? randomBytes(SECRET_BYTES).toString('base64url');
	nodeData[STATIC_DATA_KEY] = secret;
	return secret;
}

/** Forgets the secret of a trigger that wants none, so that the next one is another. */
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

/**
 * Whether the query of a notice has the right secret. How long that takes tells nothing of it. A
 * trigger that has lost its secret lets nobody in.
 */
export function opensLock(query: unknown, secret: string | undefined): boolean {
	const given: unknown =
		typeof query === 'object' && query !== null ? Reflect.get(query, QUERY_NAME) : undefined;
	if (typeof given !== 'string' || secret === undefined) return false;
	return timingSafeEqual(digest(given), digest(secret));
}

/** Both sides get the same length, which the comparison needs and which hides the real one. */
function digest(text: string): Buffer {
	return createHash('sha256').update(text).digest();
}
