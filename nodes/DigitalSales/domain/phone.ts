import { cleanText, type Result } from './text';

const MIN_DIGITS = 10;
const MAX_DIGITS = 13;

/** Digits and the signs between them. What ends in one or two digits is no number: decimals of a table, an extension. */
const PHONE = /^(?!.*\D\d{1,2}$)[\d\s()./+-]*$/;

/** Keeps the digits as typed, with or without the country code: `+55 (11) 91234-5678`. */
export function parsePhone(input: unknown): Result<string> {
	const text = typeof input === 'string' || typeof input === 'number' ? String(input) : 'none';
	if (!PHONE.test(cleanText(text))) {
		return { problem: 'must be one phone number, such as (11) 91234-5678, without other text' };
	}
	const phone = text.replace(/\D/g, '');
	if (phone.length < MIN_DIGITS || phone.length > MAX_DIGITS) {
		return {
			problem: `must have ${MIN_DIGITS} to ${MAX_DIGITS} digits, including the area code; this one has ${phone.length}`,
		};
	}
	return { value: phone };
}
