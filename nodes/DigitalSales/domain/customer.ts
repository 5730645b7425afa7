import { cnpj, cpf } from '../../../vendor/checkDigits';
import { type Result, cleanText } from './text';

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;
const CNPJ_SHAPE = /^[0-9A-Z]{12}\d{2}$/;
const CPF_SHAPE = /^\d{11}$/;

/**
 * Reads a CPF or CNPJ, drops the punctuation and checks its two check digits.
 * A CNPJ may hold letters (since July 2026: a character's value is its ASCII code minus 48).
 * A number has lost its leading zeros: they are put back if it then is either a CPF or a CNPJ.
 */
export function parseDocument(input: unknown): Result<string> {
	if (typeof input === 'number') return documentFromNumber(input);
	if (typeof input !== 'string') return { problem: 'is not a CPF or CNPJ' };
	const document = stripDocument(input);
	if (CPF_SHAPE.test(document)) {
		return isCpf(document)
			? { value: document }
			: { problem: 'is not a valid CPF: check its digits' };
	}
	if (CNPJ_SHAPE.test(document)) {
		return isCnpj(document)
			? { value: document }
			: { problem: 'is not a valid CNPJ: check its characters' };
	}
	const isLong = document.length !== CPF_LENGTH && document.length !== CNPJ_LENGTH;
	return {
		problem: isLong
			? `must be a CPF (${CPF_LENGTH} digits) or a CNPJ (${CNPJ_LENGTH} characters); this one has ${document.length}`
			: 'has a letter in a place for a digit: a CPF is all digits, and a CNPJ ends in two',
	};
}

/** Only letters and digits, in upper case. */
function stripDocument(text: string): string {
	return text.replace(/[^0-9a-z]/gi, '').toUpperCase();
}

function documentFromNumber(value: number): Result<string> {
	const asCpf = String(value).padStart(CPF_LENGTH, '0');
	const asCnpj = String(value).padStart(CNPJ_LENGTH, '0');
	const mayBeCpf = CPF_SHAPE.test(asCpf) && isCpf(asCpf);
	const mayBeCnpj = isCnpj(asCnpj);
	// Eleven digits were typed as a CPF.
	const isClear = mayBeCpf !== mayBeCnpj && (mayBeCpf || String(value).length !== CPF_LENGTH);
	if (isClear) return { value: mayBeCpf ? asCpf : asCnpj };
	return {
		problem:
			'is a number that is not clearly one CPF or CNPJ. Leading zeros may be missing: format the column as text',
	};
}

// The library's own check refuses 123.456.789-09, although it is valid and payment services use it
// for test accounts, so only its check digits are used.
function isCpf(digits: string): boolean {
	return isVerified(digits, cpf.verifierDigit);
}

function isCnpj(characters: string): boolean {
	return CNPJ_SHAPE.test(characters) && isVerified(characters, cnpj.verifierDigit);
}

function isVerified(document: string, digitOf: (characters: string) => number): boolean {
	if (/^(.)\1*$/.test(document)) return false;
	return [document.length - 2, document.length - 1].every(
		(place) => String(digitOf(document.slice(0, place))) === document[place],
	);
}

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
