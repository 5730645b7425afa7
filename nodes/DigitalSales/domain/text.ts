import { deburr } from 'lodash';

export const LONGEST_TEXT = 10_000;

const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?!\s)\p{Cc}/gu;
const DASH = /[\p{Pd}\u2212]/gu;
const APOSTROPHES = /^['\u2018\u2019]+ ?/;

/** Drops invisible characters and needless spaces. */
export function cleanText(text: string): string {
	return text.replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
}

/** The same with plain dashes, and without a spreadsheet's apostrophe. Empty if it is neither text nor a number. */
export function typedText(input: unknown): string {
	const text = typeof input === 'string' || typeof input === 'number' ? String(input) : '';
	return cleanText(text).replace(DASH, '-').replace(APOSTROPHES, '');
}

const LONGEST_QUOTE = 60;

/** On one line, so that no text looks like a line of advice. */
export function quoteText(text: string, longest = LONGEST_QUOTE): string {
	const line = cleanText(text.slice(0, LONGEST_TEXT));
	return line.length > longest ? `${line.slice(0, longest)}...` : line;
}

/** `output/errors.ts` replaces this phrase with advice that works in the execution. */
export const RUN_AGAIN = 'run this again';

/** "cafe" finds "Café da Manhã". */
function searchKey(text: string): string {
	return deburr(text).toLowerCase().trim();
}

export function textMatcher(search: string): (texts: Array<string | null | undefined>) => boolean {
	const words = searchKey(search).split(/\s+/);
	return (texts) => {
		const text = searchKey(texts.join('\n'));
		return words.every((word) => text.includes(word));
	};
}

/** A hash is a path segment of undocumented form. */
export function isUsableHash(hash: string): boolean {
	return !['', '.', '..'].includes(hash.trim());
}

export function hashSegment(hash: string): string {
	// Half of a surrogate pair cannot be encoded.
	return encodeURIComponent(hash.trim().replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** A problem follows the name of a field, such as "is empty". */
export type Result<T> = { value: T } | { problem: string };

export function valueOf<T>(result: Result<T>): T | undefined {
	return 'value' in result ? result.value : undefined;
}
