/** Half of a pair that makes one character: alone it is none, and cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/**
 * Whether a text can stand as one segment of a path without leading elsewhere.
 * What a hash looks like is not documented, so nothing else is asked of it.
 */
export function isUsableHash(hash: string): boolean {
	const trimmed = hash.trim();
	return trimmed !== '' && trimmed !== '.' && trimmed !== '..' && !HALF_CHARACTER.test(trimmed);
}

/** A hash as one encoded segment of a path. */
export function hashSegment(hash: string): string {
	return encodeURIComponent(hash.trim());
}

/**
 * Whether two hashes differ in nothing but the case of the letters A to Z. That alone does not make
 * them one transaction: only a service that answers one with the other says so.
 */
export function isSameButForCase(one: string, other: string): boolean {
	return lowerCase(one) === lowerCase(other);
}

/** Unicode has letters whose lower case is another letter, such as the Kelvin sign. */
function lowerCase(hash: string): string {
	return hash.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
