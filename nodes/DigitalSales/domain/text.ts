export const LONGEST_TEXT = 10_000;

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
/** Normalizing a longer run takes quadratic time (Unicode's Stream-Safe Text Format). */
const LONGEST_RUN_OF_MARKS = /\p{M}{30}(?=\p{M})/gu;
const GRAPHEME_JOINER = '\u034f';

export function removeInvisible(text: string): string {
	return text.replace(INVISIBLE, '');
}

/** Drops invisible characters and needless spaces. */
export function cleanText(text: string): string {
	return removeInvisible(text).replace(/\s+/g, ' ').trim();
}

export function normalizeUnicode(text: string, form: 'NFC' | 'NFD' | 'NFKC' = 'NFC'): string {
	return text.replace(LONGEST_RUN_OF_MARKS, `$&${GRAPHEME_JOINER}`).normalize(form);
}

const LONGEST_QUOTE = 60;

/** On one line, so that no text looks like a line of advice. */
export function quoteText(text: string, longest = LONGEST_QUOTE): string {
	const line = cleanText(text.slice(0, LONGEST_TEXT));
	return line.length > longest ? `${line.slice(0, longest)}...` : line;
}

/** `output/errors.ts` replaces this phrase with advice that works in the execution. */
export const RUN_AGAIN = 'run this again';

export function isSameText(one: string, other: string): boolean {
	return normalizeUnicode(one) === normalizeUnicode(other);
}

/** "cafe" finds "Café da Manhã". */
function searchKey(text: string): string {
	return normalizeUnicode(text, 'NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}

export function textMatcher(search: string): (texts: Array<string | null | undefined>) => boolean {
	const words = searchKey(search).split(/\s+/);
	return (texts) => {
		const text = searchKey(texts.join('\n'));
		return words.every((word) => text.includes(word));
	};
}

/** Half of a surrogate pair cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** A hash is a path segment of undocumented form. */
export function isUsableHash(hash: string): boolean {
	const trimmed = hash.trim();
	return trimmed !== '' && trimmed !== '.' && trimmed !== '..' && !HALF_CHARACTER.test(trimmed);
}

export function hashSegment(hash: string): string {
	return encodeURIComponent(hash.trim().replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** A problem follows the name of a field, such as "is empty". */
export type Result<T> = { value: T } | { problem: string };

export function valueOf<T>(result: Result<T>): T | undefined {
	return 'value' in result ? result.value : undefined;
}
