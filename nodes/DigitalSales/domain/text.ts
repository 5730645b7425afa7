/** No field that a person fills in holds more characters. */
export const LONGEST_TEXT = 10_000;

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
const COMBINING_MARKS = /[\u0300-\u036f]/g;
/** As in Unicode's Stream-Safe Text Format: sorting a longer run takes time by its square. */
const LONGEST_RUN_OF_MARKS = /\p{M}{30}(?=\p{M})/gu;
const GRAPHEME_JOINER = '\u034f';

/** A text without what nobody can see. */
export function visible(text: string): string {
	return text.replace(INVISIBLE, '');
}

/**
 * A text that identifies something (a reference, a token, an address, an e-mail, a hash) as a person
 * sees it: without invisible characters, every blank a single space. Titles stay as typed.
 */
export function cleanText(text: string): string {
	return visible(text).replace(/\s+/g, ' ').trim();
}

/** A text in one form, however its accents were composed; in linear time. */
export function composed(text: string, form: 'NFC' | 'NFD' = 'NFC'): string {
	return text.replace(LONGEST_RUN_OF_MARKS, `$&${GRAPHEME_JOINER}`).normalize(form);
}

const LONGEST_QUOTE = 60;

/** A text from a row as errors quote it: short, and in one line, so that it cannot pass for a line of advice. */
export function quoted(text: string, longest = LONGEST_QUOTE): string {
	const line = cleanText(text.slice(0, LONGEST_TEXT));
	return line.length > longest ? `${line.slice(0, longest)}...` : line;
}

/** In an advice; `output/advice.ts` says how to do that, which depends on the execution. */
export const RUN_AGAIN = 'run this again';

/** Whether two texts are the same, however Unicode composes their accents. */
export function isSameText(one: string, other: string): boolean {
	return composed(one) === composed(other);
}

/** @internal A text without case and accents, so that "cafe" is found in "Café da Manhã". */
export function searchKey(text: string): string {
	return composed(text, 'NFD').replace(COMBINING_MARKS, '').toLowerCase().trim();
}

/** Whether texts have each word of a search as a part, in any order. */
export function textMatcher(search: string): (texts: Array<string | null | undefined>) => boolean {
	const words = searchKey(search).split(/\s+/);
	return (texts) => {
		const text = searchKey(texts.join('\n'));
		return words.every((word) => text.includes(word));
	};
}

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

/** What was read, or why it could not be read, in words that continue the name of the field. */
export type Result<T> = { value: T } | { problem: string };
