import type { Result } from './result';

const MIN_DIGITS = 10;
const MAX_DIGITS = 13;

/** Keeps the digits as typed, with or without the country code: `+55 (11) 91234-5678`. */
export function parsePhone(input: unknown): Result<string> {
	if (typeof input !== 'string' && typeof input !== 'number') {
		return { problem: 'is not a phone number' };
	}
	const phone = String(input).replace(/\D/g, '');
	if (phone.length < MIN_DIGITS || phone.length > MAX_DIGITS) {
		return {
			problem: `must have ${MIN_DIGITS} to ${MAX_DIGITS} digits, including the area code; this one has ${phone.length}`,
		};
	}
	return { value: phone };
}
