import { type Result, removeInvisible } from './text';

const PLAIN = /^\d+(?:[.,]\d{1,2})?$/;
const GROUPED = /^[1-9]\d{0,2}(?<mark>[ .,])\d{3}(?:\k<mark>\d{3})*(?:(?!\k<mark>)[.,]\d{1,2})?$/;
const AMBIGUOUS = /^([1-9]\d{0,2})[.,](\d{2})(\d)$/;
const CURRENCY = /^(?:R\$|BRL) *|(?<=\d) *(?:R\$|BRL|rea(?:l|is))$/i;
/** A database may write four decimals. Three are ambiguous. */
const DATABASE_ZEROS = /([.,]\d\d)0{2,}$/;
const MOST_CHARACTERS = 100;
const LONGEST_QUOTE = 40;
/** The relative error of a few operations. */
const FLOAT_NOISE = 8 * Number.EPSILON;
const MOST_NOISE = 0.0005;

export const LARGEST_AMOUNT = Number.MAX_SAFE_INTEGER;

const IS_NO_AMOUNT = { problem: 'is not an amount' };
const IS_NEGATIVE = 'must not be negative';
const MINUS = /^[\p{Pd}\u2212] */u;

/**
 * Reads reais, a number or a text such as `R$ 1.234,56`, as integer cents. Digits are moved as text, because
 * `1.15 * 100` is `114.99999999999999`.
 */
export function parseCents(input: unknown): Result<number> {
	if (typeof input === 'number') return centsOfNumber(input);
	if (typeof input !== 'string') return IS_NO_AMOUNT;
	const text = input.trim();
	const digits = digitsOfCents(text);
	if (digits === undefined) return { problem: amountProblem(text) };
	return safeCents(Number(digits));
}

/** `123456` cents become `R$ 1.234,56`. */
export function formatReais(cents: number): string {
	if (!Number.isInteger(cents)) return `${cents} cents`;
	const digits = String(BigInt(Math.abs(cents))).padStart(3, '0');
	const reais = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.');
	return `${cents < 0 ? '-' : ''}R$ ${reais},${digits.slice(-2)}`;
}

/** `1990` cents become `19,90`. */
export function typedAmount(cents: number): string {
	return formatReais(cents).replace('R$ ', '');
}

export function inReais(cents: number | null | undefined): number | null {
	return cents == null ? null : cents / 100;
}

export function isHundredfold(one: number, other: number): boolean {
	return one !== 0 && (one === other * 100 || one * 100 === other);
}

function centsOfNumber(value: number): Result<number> {
	if (Number.isNaN(value)) return IS_NO_AMOUNT;
	if (value < 0) return { problem: IS_NEGATIVE };
	if (value > LARGEST_AMOUNT) return safeCents(value);

	const digits = digitsOfCents(String(value)) ?? digitsOfCents(withoutNoise(value));
	if (digits !== undefined) return safeCents(Number(digits));
	return { problem: `must have at most two decimals; ${value} has more. Round it first` };
}

/** Expressions such as `{{ $json.price * 1.1 }}` leave float noise after the second decimal. */
function withoutNoise(value: number): string {
	const rounded = value.toFixed(2);
	const noise = Math.min(MOST_NOISE, FLOAT_NOISE * Math.max(1, value));
	return Math.abs(Number(rounded) - value) < noise ? rounded : String(value);
}

function digitsOfCents(text: string): string | undefined {
	const amount = bareAmount(text);
	if (!PLAIN.test(amount) && (!GROUPED.test(amount) || AMBIGUOUS.test(amount))) return undefined;
	const decimals = /[.,](\d{1,2})$/.exec(amount)?.[1] ?? '';
	return amount.replace(/\D/g, '') + '0'.repeat(2 - decimals.length);
}

function bareAmount(text: string): string {
	if (text.length > MOST_CHARACTERS) return '';
	return removeInvisible(text)
		.replace(/\p{Zs}/gu, ' ')
		.trim()
		.replace(/^'/, '')
		.replace(CURRENCY, '')
		.replace(DATABASE_ZEROS, '$1');
}

function safeCents(cents: number): Result<number> {
	if (Number.isSafeInteger(cents)) return { value: cents };
	return { problem: `is too large; the largest amount is ${formatReais(LARGEST_AMOUNT)}` };
}

function amountProblem(text: string): string {
	const amount = bareAmount(text);
	const positive = amount.replace(MINUS, '');
	if (positive !== amount && digitsOfCents(positive) !== undefined) return IS_NEGATIVE;

	const isLong = text.length > LONGEST_QUOTE;
	const quoted = JSON.stringify(isLong ? `${text.slice(0, LONGEST_QUOTE)}...` : text);
	const [, reais, decimals, last] = AMBIGUOUS.exec(amount) ?? [];
	if (reais === undefined) {
		return `must be an amount such as 19,90 or 1.234,56; ${quoted} is not one`;
	}

	const orCents = last === '0' ? ` or ${reais},${decimals}` : '';
	return `is ambiguous: write ${reais}${decimals}${last},00${orCents}, not ${quoted}`;
}
