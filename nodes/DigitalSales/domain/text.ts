export const LONGEST_TEXT = 10_000;

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
/** Unicode's Stream-Safe Text Format: sorting a longer run would take quadratic time. */
const LONGEST_RUN_OF_MARKS = /\p{M}{30}(?=\p{M})/gu;
const GRAPHEME_JOINER = '\u034f';

export function removeInvisible(text: string): string {
	return text.replace(INVISIBLE, '');
}

/** Cleans a text that identifies something: no invisible characters, and every blank a single space. */
export function cleanText(text: string): string {
	return removeInvisible(text).replace(/\s+/g, ' ').trim();
}

/** Composes (or decomposes) accents, in linear time. */
export function normalizeUnicode(text: string, form: 'NFC' | 'NFD' = 'NFC'): string {
	return text.replace(LONGEST_RUN_OF_MARKS, `$&${GRAPHEME_JOINER}`).normalize(form);
}

const LONGEST_QUOTE = 60;

/** Short and on one line, so that a text from a row cannot pass for a line of advice. */
export function quoted(text: string, longest = LONGEST_QUOTE): string {
	const line = cleanText(text.slice(0, LONGEST_TEXT));
	return line.length > longest ? `${line.slice(0, longest)}...` : line;
}

/** `output/errors.ts` replaces this phrase with advice that works in the execution. */
export const RUN_AGAIN = 'run this again';

export function isSameText(one: string, other: string): boolean {
	return normalizeUnicode(one) === normalizeUnicode(other);
}

/** @internal Without case and accents, so that "cafe" is found in "Café da Manhã". */
export function searchKey(text: string): string {
	return normalizeUnicode(text, 'NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}

/** Tests whether texts contain each word of a search, in any order. */
export function textMatcher(search: string): (texts: Array<string | null | undefined>) => boolean {
	const words = searchKey(search).split(/\s+/);
	return (texts) => {
		const text = searchKey(texts.join('\n'));
		return words.every((word) => text.includes(word));
	};
}

/** Half of a surrogate pair cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/** Whether a text is safe in a path. The form of a hash is not documented. */
export function isUsableHash(hash: string): boolean {
	const trimmed = hash.trim();
	return trimmed !== '' && trimmed !== '.' && trimmed !== '..' && !HALF_CHARACTER.test(trimmed);
}

/** Never throws. */
export function hashSegment(hash: string): string {
	return encodeURIComponent(hash.trim().replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** A value, or why it could not be read, in words that follow the name of the field. */
export type Result<T> = { value: T } | { problem: string };
