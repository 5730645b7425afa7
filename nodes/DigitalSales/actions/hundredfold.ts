import { formatReais, isHundredfold, typedAmount } from '../domain/money';
import { NotSentError } from '../output/errors';

/** A price as it will be sent, in cents. */
interface Given {
	/** The display name of its field. */
	label: string;
	cents: number | null | undefined;
	/** Custom Fields are in the service's own unit. */
	isCustom: boolean;
}

/**
 * Refuses a price that is exactly 100 times another one, or a hundredth of it: reais and cents were
 * probably mixed up.
 *
 * @param says what the other price is, in words before it
 */
export function hundredfold(
	{ label, cents, isCustom }: Given,
	says: string,
	other: number | undefined,
): NotSentError | undefined {
	if (cents == null || other === undefined || !isHundredfold(cents, other)) return undefined;
	const message = `${label} is ${formatReais(cents)}, but ${says} ${formatReais(other)}`;
	const advice = `Enter ${isCustom ? other : typedAmount(other)}, or add Options > Allow Price Mismatch if ${formatReais(cents)} is right.`;
	return new NotSentError(message, { advice, outcome: 'notSent' });
}
