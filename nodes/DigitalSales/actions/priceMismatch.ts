import { formatReais, isHundredfold, typedAmount } from '../domain/money';
import { NotSentError } from '../output/errors';

export interface SentPrice {
	label: string;
	cents: number | null | undefined;
	/** Custom Fields are in cents. */
	isCustom: boolean;
}

/**
 * If a price is exactly 100 times another, or a hundredth of it, reais and cents were probably mixed up.
 *
 * @param source introduces the other price in the message: "the cart adds up to"
 */
export function hundredfoldMismatch(
	{ label, cents, isCustom }: SentPrice,
	source: string,
	other: number | undefined,
): NotSentError | undefined {
	if (cents == null || other === undefined || !isHundredfold(cents, other)) return undefined;
	const message = `${label} is ${formatReais(cents)}, but ${source} ${formatReais(other)}`;
	const advice = `Enter ${isCustom ? other : typedAmount(other)}, or add Options > Allow Price Mismatch if ${formatReais(cents)} is right.`;
	return new NotSentError(message, { advice, outcome: 'notSent' });
}
