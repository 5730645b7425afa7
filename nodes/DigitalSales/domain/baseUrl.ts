import type { Result } from './result';
import { cleanText } from './text';
import { parseWebAddress } from './webAddress';

/**
 * Reads the address of the service, without trailing slashes; a missing scheme becomes `https://`. The
 * path is the user's, because services run the same API under other paths (API document, Versioning).
 */
export function parseBaseUrl(input: string): Result<string> {
	const typed = cleanText(input);
	if (typed === '') return { problem: 'is empty' };
	const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
	const address = parseWebAddress(withScheme);
	// A scheme that was typed twice or without its signs is read as a host. What was typed is not quoted:
	// it may be a token.
	if (!address || /^https?$/.test(address.hostname)) return { problem: 'is not a web address' };
	if (address.search !== '' || address.hash !== '') {
		return { problem: 'must end with its path, without "?" or "#"' };
	}
	if (address.username !== '' || address.password !== '') {
		return { problem: 'must not contain a user name or password' };
	}
	return { value: address.origin + address.pathname.replace(/\/+$/, '') };
}
