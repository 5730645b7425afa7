/** The unit in which a person types an amount; the service itself only knows integer cents. */
export type AmountUnit = 'cents' | 'reais';

/** An amount that was understood, in integer cents, or the reason why it was not. */
export type CentsResult = { cents: number } | { problem: string };

const CURRENCY_SIGN = /^R\$|[\s\u00a0\u202f]/gi;
const WHOLE_NUMBER = /^\d+$/;
/** What a few steps of floating-point arithmetic leave behind, relative to the value. */
const FLOAT_NOISE = 8 * Number.EPSILON;

/**
 * Reads an amount as typed or as computed by an expression and gives integer cents.
 * The decimals are moved as text, because `1.15 * 100` is `114.99999999999999`.
 *
 * @param input a number, or a text such as `1990` (cents), `19,90`, `1.234,56`, `R$ 19.90` (reais)
 * @param unit the unit of `input`
 */
export function parseCents(input: unknown, unit: AmountUnit): CentsResult {
	if (typeof input !== 'number' && typeof input !== 'string') {
		return { problem: 'is not an amount' };
	}
	const text =
		typeof input === 'number' ? numberText(input, unit) : input.replace(CURRENCY_SIGN, '');
	if (text.startsWith('-')) return { problem: 'must not be negative' };
	const result = unit === 'cents' ? centsText(text) : reaisText(text);
	if (result.cents === undefined) return { problem: result.problem };
	const cents = Number(result.cents);
	return Number.isSafeInteger(cents) ? { cents } : { problem: 'is too large an amount' };
}

/** Writes integer cents the way a Brazilian reads them: `123456` gives `R$ 1.234,56`. */
export function formatReais(cents: number): string {
	const digits = String(Math.abs(cents)).padStart(3, '0');
	const reais = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.');
	return `${cents < 0 ? '-' : ''}R$ ${reais},${digits.slice(-2)}`;
}

/** Integer cents as a number of reais with two decimals: `1990` gives `19.9`. */
export function centsToReais(cents: number): number {
	return cents / 100;
}

type CentsText = { cents: string; problem?: never } | { cents?: never; problem: string };

function centsText(text: string): CentsText {
	if (WHOLE_NUMBER.test(text)) return { cents: text };
	return {
		problem: `must be a whole number, for example 1990 for R$ 19,90; "${text}" is not one`,
	};
}

function reaisText(text: string): CentsText {
	const match = /^(\d+)(?:[.,](\d{1,2}))?$/.exec(ungrouped(text));
	if (!match?.[1]) {
		return {
			problem: `must be an amount such as 19,90 or 1.234,56; "${text}" cannot be read for certain`,
		};
	}
	return { cents: match[1] + (match[2] ?? '').padEnd(2, '0') };
}

/** Drops thousands separators where the text leaves no doubt which character they are. */
function ungrouped(text: string): string {
	if (/^\d{1,3}(\.\d{3})+,\d{1,2}$/.test(text)) return text.replaceAll('.', '');
	if (/^\d{1,3}(,\d{3})+\.\d{1,2}$/.test(text)) return text.replaceAll(',', '');
	if (/^\d{1,3}(\.\d{3}){2,}$/.test(text)) return text.replaceAll('.', '');
	if (/^\d{1,3}(,\d{3}){2,}$/.test(text)) return text.replaceAll(',', '');
	return text;
}

/** Expressions such as `{{ $json.price * 1.1 }}` carry float noise behind the second decimal. */
function numberText(value: number, unit: AmountUnit): string {
	const text = String(value);
	if (unit === 'cents') return text;
	const rounded = value.toFixed(2);
	return Math.abs(Number(rounded) - value) < FLOAT_NOISE * Math.max(1, Math.abs(value))
		? rounded
		: text;
}
