import { customerText, parseDocument, parsePhone, withoutCountry } from './customer';
import { normalizeUnicode, valueOf } from './text';

/**
 * Makes the spellings of one order equal: a spreadsheet's apostrophe and decimals, another width, another dash, another
 * case, and of parts between commas the punctuation of a CPF, a CNPJ or a phone.
 */
export function normalizeReference(reference: string): string {
	const typed = customerText(normalizeUnicode(reference, 'NFKC'));
	const plain = typed.replace(/^(\d+)\.0$/, '$1').toLowerCase();
	const parts = plain.split(/ ?, ?/);
	// A reference of one part may be a number that only looks like a CPF.
	return parts.length === 1 ? plain : parts.map(withoutPunctuation).join(', ');
}

function withoutPunctuation(part: string): string {
	const document = valueOf(parseDocument(part))?.toLowerCase();
	const phone = valueOf(parsePhone(part));

	return document ?? (phone && withoutCountry(phone)) ?? part;
}

export function isSameReference(one: string, other: string): boolean {
	return normalizeReference(one) === normalizeReference(other);
}
