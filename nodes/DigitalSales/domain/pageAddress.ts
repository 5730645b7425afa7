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

/**
 * How an address that a person typed fits one of the catalog: exactly, in part, or not, because its
 * query says something else. Undefined for another page. Scheme, `www.`, a closing slash and what
 * follows `#` do not count; a query that only one of them has fits in part.
 */
export function addressFit(typed: string, known: string): 'exact' | 'part' | 'not' | undefined {
	const [one, other] = [parseWebAddress(typed.trim()), parseWebAddress(known.trim())];
	if (!one || !other || pageOf(one) !== pageOf(other)) return undefined;
	const [own, theirs] = [one.searchParams, other.searchParams];
	const same = [...theirs.keys()].filter((name) => own.has(name));
	if (same.some((name) => String(own.getAll(name)) !== String(theirs.getAll(name)))) return 'not';
	return own.size === theirs.size && same.length === theirs.size ? 'exact' : 'part';
}

function pageOf({ host, pathname }: URL): string {
	return host.replace(/^www\./, '') + pathname.replace(/\/+$/, '');
}

function decoded(part: string): string | undefined {
	try {
		return decodeURIComponent(part);
	} catch {
		return undefined;
	}
}
