import { localPhone, parseDocument } from './customer';
import { typedText, valueOf } from './text';

/**
 * Makes the spellings of one order equal: a spreadsheet's apostrophe and decimals, another dash, another case, and of
 * parts between commas the punctuation of a CPF, a CNPJ or a phone.
 */
export function normalizeReference(reference: string): string {
	const plain = typedText(reference.normalize()).replace(/^(\d+)\.0$/, '$1');
	const parts = plain.split(/ ?, ?/);
	// A reference of one part may be a number that only looks like a CPF.
	const comparable = parts.length === 1 ? parts : parts.map(withoutPunctuation);
	return comparable.join(', ').toLowerCase();
}

function withoutPunctuation(part: string): string {
	return valueOf(parseDocument(part)) ?? localPhone(part) ?? part;
}

export function isSameReference(one: string, other: string): boolean {
	return normalizeReference(one) === normalizeReference(other);
}
