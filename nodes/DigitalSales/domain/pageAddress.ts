import { isUsableHash } from './hash';
import { parseWebAddress } from './webAddress';

/**
 * The hash in the address of a checkout or sales page: the last part of its path; undefined if there
 * is none.
 */
export function hashInAddress(text: string): string | undefined {
	const address = parseWebAddress(text.trim());
	const last = address?.pathname
		.split('/')
		.filter((part) => part !== '')
		.at(-1);
	if (last === undefined) return undefined;
	const hash = decoded(last);
	return hash !== undefined && isUsableHash(hash) ? hash : undefined;
}

/** Whether two addresses name the same page; scheme, `www.`, query and trailing slash do not count. */
export function isSamePage(one: string, other: string): boolean {
	const page = pageOf(one);
	return page !== undefined && page === pageOf(other);
}

function pageOf(text: string): string | undefined {
	const address = parseWebAddress(text.trim());
	return address && address.host.replace(/^www\./, '') + address.pathname.replace(/\/+$/, '');
}

function decoded(part: string): string | undefined {
	try {
		return decodeURIComponent(part);
	} catch {
		return undefined;
	}
}
