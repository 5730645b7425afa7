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
