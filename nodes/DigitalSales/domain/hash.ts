/** Half of a surrogate pair cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/**
 * Whether a text is safe as one segment of a path. What a hash looks like is not documented, so
 * nothing else is checked.
 */
export function isUsableHash(hash: string): boolean {
	const trimmed = hash.trim();
	return trimmed !== '' && trimmed !== '.' && trimmed !== '..' && !HALF_CHARACTER.test(trimmed);
}

/** A hash as one encoded segment of a path; never throws, since the service may make any. */
export function hashSegment(hash: string): string {
	return encodeURIComponent(hash.trim().replace(/\p{Surrogate}/gu, '\ufffd'));
}
