import { formatReais, isHundredfold, typedAmount } from '../domain/money';
import { Refusal } from '../output/errors';

/** A price as it will be sent. */
export interface SentPrice {
	/** The label of its field. */
	label: string;
	cents: number | null | undefined;
	/** Whether it comes from Custom Fields, which are in cents. */
	isCustom: boolean;
}

/**
 * Refuses a price that is exactly 100 times another price, or a hundredth of it, because reais and cents
 * were probably mixed up.
 *
 * @param source introduces the other price in the message: "the cart adds up to"
 */
export function hundredfoldMismatch(
	{ label, cents, isCustom }: SentPrice,
	source: string,
	other: number | undefined,
): Refusal | undefined {
	if (cents == null || other === undefined || !isHundredfold(cents, other)) return undefined;
	const message = `${label} is ${formatReais(cents)}, but ${source} ${formatReais(other)}`;
	const advice = `Enter ${isCustom ? other : typedAmount(other)}, or add Options > Allow Price Mismatch if ${formatReais(cents)} is right.`;
	return new Refusal(message, { advice, outcome: 'notSent' });
}
