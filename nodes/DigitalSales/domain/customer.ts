import { cnpj, cpf } from '../../../vendor/checkDigits';
import { cleanText, type Result, valueOf } from './text';

const CPF_LENGTH = 11;
const CNPJ_LENGTH = 14;
/** With any punctuation between its groups. */
const CPF = /^\W*\d{3}\W*\d{3}\W*\d{3}\W*\d\d\W*$/;
const CNPJ = /^\W*[0-9A-Z]{2}\W*[0-9A-Z]{3}\W*[0-9A-Z]{3}\W*[0-9A-Z]{4}\W*\d\d\W*$/;
/** A word such as "DOC" and a CPF together have the shape of a CNPJ. */
const WORD = /^[A-Z]{3}/;
const WORD_LENGTH = 3;
/** A CNPJ may begin with the same letters. */
const LABEL = /^(?:(?:CPF|CNPJ)\W*)+/;
const DASH = /[\p{Pd}\u2212]/gu;
const APOSTROPHES = /^['\u2018\u2019]+ ?/;
/** Python writes a number of a column with gaps as `52998224725.0`. */
const DECIMAL_ZERO = /\.0$/;
/** A spreadsheet shows a long number as 5,29982E+10, and a CSV file keeps only that. */
const SHORTENED = /^\d(?:[.,]\d+E\+?|E\+)\d+$/i;
const IS_SHORTENED = {
	problem: 'is a number that a spreadsheet has shortened: format the column as text',
};
const IS_NO_CPF = { problem: 'is not a valid CPF: check its digits' };
const IS_NO_CNPJ = { problem: 'is not a valid CNPJ: check its characters' };
const IS_UNCLEAR = {
	problem:
		'is not clearly a CPF or a CNPJ. A number loses its leading zeros: format the column as text',
};

/** Removes invisible characters and a spreadsheet's apostrophe, and makes dashes plain. */
export function customerText(input: unknown): string {
	const text = typeof input === 'string' || typeof input === 'number' ? String(input) : '';
	return cleanText(text).replace(DASH, '-').replace(APOSTROPHES, '');
}

/**
 * Returns a CPF or CNPJ without punctuation. A CNPJ may contain letters (since July 2026). A JavaScript number has lost
 * its leading zeros.
 */
export function parseDocument(input: unknown): Result<string> {
	if (typeof input === 'number') return documentFromDigits(String(input));
	if (typeof input !== 'string') return { problem: 'is not a CPF or CNPJ' };

	const typed = customerText(input).replace(DECIMAL_ZERO, '').toUpperCase();
	const unlabeled = typed.replace(LABEL, '');
	const text = CPF.test(unlabeled) || CNPJ.test(unlabeled) ? unlabeled : typed;
	const document = text.replace(/\W/g, '');
	const isWordAndCpf = WORD.test(document) && isCpf(document.slice(WORD_LENGTH));

	if (SHORTENED.test(typed)) return IS_SHORTENED;
	if (CPF.test(text) && !isCpf(document)) return IS_NO_CPF;
	if (CPF.test(text)) return { value: document };
	if (CNPJ.test(text) && !isWordAndCpf) {
		if (!isCnpj(document)) return IS_NO_CNPJ;
		return { value: document };
	}

	const padded = /^\d+$/.test(typed) && valueOf(documentFromDigits(typed));
	if (padded) return { value: padded };
	return {
		problem: `must be a CPF (${CPF_LENGTH} digits) or a CNPJ (${CNPJ_LENGTH} characters, of which the last two are digits); this one has ${document.length}`,
	};
}

function documentFromDigits(digits: string): Result<string> {
	const asCpf = digits.padStart(CPF_LENGTH, '0');
	const asCnpj = digits.padStart(CNPJ_LENGTH, '0');
	const mayBeCpf = isCpf(asCpf);
	const mayBeCnpj = isCnpj(asCnpj);

	// A customer who types eleven digits means a CPF.
	const isClear = mayBeCpf !== mayBeCnpj && (mayBeCpf || digits.length !== CPF_LENGTH);
	if (!isClear) return IS_UNCLEAR;
	if (mayBeCpf) return { value: asCpf };
	return { value: asCnpj };
}

// The library's own check refuses 123.456.789-09, a valid number used for tests.
function isCpf(digits: string): boolean {
	return /^\d{11}$/.test(digits) && hasCheckDigits(digits, cpf.verifierDigit);
}

function isCnpj(characters: string): boolean {
	return /^[0-9A-Z]{12}\d{2}$/.test(characters) && hasCheckDigits(characters, cnpj.verifierDigit);
}

function hasCheckDigits(document: string, digitOf: (characters: string) => number): boolean {
	if (/^(.)\1*$/.test(document)) return false;
	return [document.length - 2, document.length - 1].every(
		(place) => String(digitOf(document.slice(0, place))) === document[place],
	);
}

type Text = string | null | undefined;

export type Contact = Record<'document' | 'email' | 'phone' | 'name', string | undefined>;

/** Makes customers comparable. */
export function normalizeContact(
	customer: Partial<Record<'document' | 'email' | 'phone_number' | 'name', Text>>,
): Contact {
	const document = valueOf(parseDocument(customer.document)) ?? customer.document;
	const digits = customer.phone_number?.replace(/\D/g, '');
	const phone = valueOf(parsePhone(customer.phone_number)) ?? digits;

	return {
		document: document ?? undefined,
		name: customer.name?.trim().toLowerCase(),
		email: customer.email?.trim().toLowerCase(),
		phone: phone && withoutCountry(phone),
	};
}

/** Without that of Brazil, which people may leave out. */
export function withoutCountry(phone: string): string {
	return phone.replace(/^55(?=\d{10,11}$)/, '');
}

const EMAIL =
	/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:(?!-)[a-z0-9\u00c0-\u024f_-]+(?<!-)\.)+(?:[a-z\u00c0-\u024f]{2,}|xn--[a-z0-9-]+)$/i;
const LONGEST_EMAIL = 254;

export function parseEmail(input: unknown): Result<string> {
	const email = customerText(input);
	if (email.length <= LONGEST_EMAIL && EMAIL.test(email)) return { value: email };
	return { problem: 'is not an e-mail address' };
}

const PHONE = /^\(?(?:\+|00)?[\d\s().-]+$/;
/** A single digit at the end is an extension, or a slip. */
const LOOSE_DIGIT = /[\s.-]\d$/;
const ABROAD = /^\(?(?:\+|00)/;
/** The area codes of North America, after its country code 1, begin with 2 to 9. */
const NUMBER_ABROAD = /^(?!0|1[01])\d{8,15}$/;
/** @internal WhatsApp's address of a number, perhaps with a device. The number begins with its country code. */
export const WHATSAPP = /(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/i;
/** @internal The zero dialed within Brazil. */
export const TRUNK = /^0/;
/** @internal */
export const AREA_CODE = /^(?:[14689][1-9]|2[12478]|3[1-578]|5[1345]|7[134579])/;
/** @internal Mobile numbers and landlines (Anatel). */
export const LOCAL = /^..(?:9\d{8}|[2-5]\d{7})$/;
/** @internal A mobile number from before 2016. WhatsApp still leaves out its ninth digit in most of Brazil. */
export const WITHOUT_NINTH_DIGIT = /^(..)([6-9]\d{7})$/;

const IS_NOT_ABROAD = {
	problem: 'must have a country code and 8 to 15 digits after the + or 00; that of Brazil is 55',
};

/** Returns digits, with the country code if it was typed. A number of another country begins with + or 00. */
export function parsePhone(input: unknown): Result<string> {
	const given = customerText(input);
	if (/@lid$/i.test(given)) {
		return {
			problem: 'is an ID that WhatsApp gives instead of the number: ask for the phone number',
		};
	}
	// The zero dialed within a country may be written `(0)`.
	const typed = given.replace(WHATSAPP, '').replace(DECIMAL_ZERO, '').replace('(0)', '');
	if (SHORTENED.test(typed)) return IS_SHORTENED;
	if (!PHONE.test(typed) || LOOSE_DIGIT.test(typed)) {
		return { problem: 'must be one phone number, such as (11) 91234-5678, without other text' };
	}

	const hasCountry = WHATSAPP.test(given) || ABROAD.test(typed);
	const digits = typed.replace(/\D/g, '').replace(/^00/, '');
	if (hasCountry && !digits.startsWith('55')) {
		if (!NUMBER_ABROAD.test(digits)) return IS_NOT_ABROAD;
		return { value: digits };
	}

	const country = digits.startsWith('55') && (hasCountry || digits.length > 11) ? '55' : '';
	const local = digits.slice(country.length).replace(TRUNK, '');
	const phone = local.replace(WITHOUT_NINTH_DIGIT, '$19$2');
	const problem = phoneProblem(phone);
	if (problem !== undefined) return { problem };
	return { value: country + phone };
}

function phoneProblem(phone: string): string | undefined {
	const { length } = phone;

	if (length === 8 || length === 9) return 'has no area code (DDD)';
	if (length < 10 || length > 11) {
		return `must have 10 or 11 digits with the area code (DDD), or begin with + if it is of another country; this one has ${length}`;
	}
	if (!AREA_CODE.test(phone)) {
		return `has an area code (DDD) that does not exist: ${phone.slice(0, 2)}`;
	}
	if (LOCAL.test(phone)) return undefined;
	return 'has a wrong, missing or additional digit: after the area code, a mobile number has 9 digits and begins with 9, a landline has 8 and begins with 2 to 5';
}
