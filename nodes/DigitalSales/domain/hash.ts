/**
 * Whether a text can stand as one segment of a path without leading elsewhere.
 * What a hash looks like is not documented, so nothing else is asked of it.
 */
export function isUsableHash(hash: string): boolean {
	const trimmed = hash.trim();
	return trimmed !== '' && trimmed !== '.' && trimmed !== '..';
}

/** A hash as one encoded segment of a path. */
export function hashSegment(hash: string): string {
	return encodeURIComponent(hash.trim());
}
