import { quoteText, type Result, typedText } from './text';

const CURRENCY = /^(?:R\$|BRL) ?/i;
/** Reais, perhaps in groups of thousands, and decimals after another mark. */
const AMOUNT =
	/^(\d+|[1-9]\d{0,2}(?:\.\d{3})+(?!\.)|[1-9]\d{0,2}(?:,\d{3})+(?!,))(?:[.,](\d{1,2}))?$/;
const AMBIGUOUS = /^([1-9]\d{0,2})[.,](\d\d)(\d)$/;
/** In reais. Expressions such as `{{ $json.price * 1.1 }}` leave less after the second decimal. */
const FLOAT_NOISE = 1e-6;

/** In cents. A JavaScript number of this size is still exact, also in reais. */
export const LARGEST_AMOUNT = 99_999_999_999;

/** Reads reais, a number or a text such as `R$ 1.234,56`, as integer cents. */
export function parseCents(input: unknown): Result<number> {
	if (typeof input === 'number') return centsOfNumber(input);

	const text = typedText(input);
	const amount = text.replace(CURRENCY, '');
	const [, first, second, third] = AMBIGUOUS.exec(amount) ?? [];
	if (first !== undefined) {
		const ways = `${first}${second}${third},00 or ${first},${second}`;
		return { problem: `is ambiguous: write ${ways}, not "${text}"` };
	}

	const [, reais, decimals = ''] = AMOUNT.exec(amount) ?? [];
	if (reais === undefined) return noAmount(text);
	return safeCents(reais.replace(/\D/g, '') + decimals.padEnd(2, '0'));
}

function centsOfNumber(reais: number): Result<number> {
	if (Number.isNaN(reais) || reais < 0) return noAmount(String(reais));

	const rounded = reais.toFixed(2);
	if (Math.abs(Number(rounded) - reais) > FLOAT_NOISE) {
		return { problem: `must have at most two decimals; ${reais} has more. Round it first` };
	}
	// As text, because `1.15 * 100` is `114.99999999999999`.
	return safeCents(rounded.replace('.', ''));
}

function safeCents(digits: string): Result<number> {
	const cents = Number(digits);
	if (cents <= LARGEST_AMOUNT) return { value: cents };
	return { problem: `is too large; the largest amount is ${formatReais(LARGEST_AMOUNT)}` };
}

function noAmount(text: string) {
	return {
		problem: `must be an amount such as 19,90 or 1.234,56; "${quoteText(text)}" is not one`,
	};
}

const REAIS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** `123456` cents become `R$ 1.234,56`. */
export function formatReais(cents: number): string {
	return REAIS.format(cents / 100).replace('\u00a0', ' ');
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
