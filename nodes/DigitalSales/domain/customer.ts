import { z } from 'zod/v3';
import { cnpj, cpf } from '../../../vendor/checkDigits';
import { type Result, typedText, valueOf } from './text';

/** Python writes a number of a column with gaps as `52998224725.0`. */
const DECIMAL_ZERO = /\.0$/;
/** A spreadsheet shows a long number as 5,29982E+10, and a CSV file keeps only that. */
const SHORTENED = /^\d(?:[.,]\d+)?E\+\d+$/i;
const IS_SHORTENED = {
	problem: 'is a number that a spreadsheet has shortened: format the column as text',
};

const LABEL = /^(?:(?:CPF|CNPJ)\W*)+/i;
/** The library refuses this valid CPF, because it is used for tests. */
const TEST_CPF = '12345678909';
/** Of a CNPJ, or of a CPF after a word such as "DOC". */
const LETTERS = /^[A-Z]{3}/;

/** Returns a CPF or CNPJ without punctuation. A CNPJ may contain letters (since July 2026). */
export function parseDocument(input: unknown): Result<string> {
	const typed = typedText(input).replace(DECIMAL_ZERO, '');
	if (SHORTENED.test(typed)) return IS_SHORTENED;

	const document = typed.replace(LABEL, '').replace(/\W/g, '').toUpperCase();
	if (isCpf(document) || isCnpj(document)) return { value: document };
	if (/^\d{11}$/.test(document)) return { problem: 'is not a valid CPF: check its digits' };
	if (document.length === 14) return { problem: 'is not a valid CNPJ: check its characters' };

	// A number has lost its leading zeros.
	const asCpf = typed.padStart(11, '0');
	const asCnpj = typed.padStart(14, '0');
	const isClear = /^\d+$/.test(typed) && isCpf(asCpf) !== isCnpj(asCnpj);
	if (isClear) return { value: isCpf(asCpf) ? asCpf : asCnpj };
	return {
		problem: `must be a CPF (11 digits) or a CNPJ (14 characters); this one has ${document.length}. A number loses its leading zeros: format the column as text`,
	};
}

function isCpf(text: string): boolean {
	return text === TEST_CPF || cpf.isValid(text, true);
}

function isCnpj(text: string): boolean {
	if (LETTERS.test(text) && isCpf(text.replace(LETTERS, ''))) return false;
	return cnpj.isValid(text, true);
}

const emailSchema = z.string().email();

export function parseEmail(input: unknown): Result<string> {
	const email = emailSchema.safeParse(typedText(input)).data;
	if (email !== undefined) return { value: email };
	return { problem: 'is not an e-mail address' };
}

const PHONE = /^[\d\s().+-]+$/;
/** @internal WhatsApp's address of a number, perhaps with a device. The number begins with its country code. */
export const WHATSAPP = /^(\d+)(?::\d+)?@(?:s\.whatsapp\.net|c\.us)$/i;
/** @internal The country code, the zero dialed within Brazil, the area code, a mobile number or landline (Anatel). */
export const OF_BRAZIL =
	/^(\+?55)?0?([14689][1-9]|2[12478]|3[1-578]|5[1345]|7[134579])(9\d{8}|[2-9]\d{7})$/;
/** @internal A mobile number from before 2016. WhatsApp still leaves out its ninth digit in most of Brazil. */
export const WITHOUT_NINTH_DIGIT = /^[6-9]\d{7}$/;
/** @internal The area codes of North America, after its country code 1, begin with 2 to 9. */
export const ABROAD = /^\+(?!55|0|1[01])\d{8,15}$/;

/** Returns digits, with the country code if it was typed. A number of another country begins with + or 00. */
export function parsePhone(input: unknown): Result<string> {
	const given = typedText(input).replace(WHATSAPP, '+$1').replace(DECIMAL_ZERO, '');
	if (SHORTENED.test(given)) return IS_SHORTENED;

	// The zero dialed within a country may be written `(0)`.
	const typed = PHONE.test(given) ? given.replace('(0)', '') : '';
	const number = typed.replace(/[^\d+]/g, '').replace(/^00/, '+');

	const [, country = '', area, local = ''] = OF_BRAZIL.exec(number) ?? [];
	if (area !== undefined) {
		return { value: country.replace('+', '') + area + local.replace(WITHOUT_NINTH_DIGIT, '9$&') };
	}
	if (ABROAD.test(number)) return { value: number.slice(1) };
	if (/^\d{8,9}$/.test(number)) return { problem: 'has no area code (DDD)' };
	return {
		problem:
			'must be one phone number with its area code (DDD), such as (11) 91234-5678, without other text. A mobile number has 9 digits after the area code. A number of another country begins with + and its country code; that of Brazil is 55',
	};
}

/** Without the country code of Brazil, which people may leave out. */
export function localPhone(input: unknown): string | undefined {
	return valueOf(parsePhone(input))?.replace(/^55(?=\d{10,11}$)/, '');
}

type Text = string | null | undefined;

export type Contact = Record<'document' | 'email' | 'phone' | 'name', string | undefined>;

/** Makes customers comparable. */
export function normalizeContact(
	customer: Partial<Record<'document' | 'email' | 'phone_number' | 'name', Text>>,
): Contact {
	const { document, email, name, phone_number: phone } = customer;

	return {
		document: valueOf(parseDocument(document)) ?? document ?? undefined,
		name: name?.trim().toLowerCase(),
		email: email?.trim().toLowerCase(),
		phone: localPhone(phone) ?? phone?.replace(/\D/g, ''),
	};
}
