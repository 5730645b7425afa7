import type { Answer, Service } from './service';
import type { KnownTransaction, Survey } from './survey';
import type { Customer } from './settings';
import type { Received } from './listen';

export type Verdict = 'contradicted' | 'confirmed' | 'untold';

export interface Finding {
	verdict: Verdict;
	/** What was seen, or why nothing can be seen; a sentence without a full stop. */
	seen: string;
}

/** What a POST was answered. */
export interface Created {
	answer: Answer;
	body: Record<string, unknown>;
}

/** Everything that was asked and answered. */
export interface Evidence extends Survey {
	service: Service;
	transactions: KnownTransaction[];
	customer: Customer;
	charge?: Created;
	offer?: Created;
	/** Whether the body of the charge had a token of its own. */
	hasSecondToken: boolean;
	/** `none` if it was waited for in vain. */
	notice?: Received | 'none';
}

export const confirmed = (seen: string): Finding => ({ verdict: 'confirmed', seen });
export const contradicted = (seen: string): Finding => ({ verdict: 'contradicted', seen });
export const untold = (seen: string): Finding => ({ verdict: 'untold', seen });

/** One finding of several: a contradiction counts more than a confirmation, and that more than nothing. */
export function together(parts: Finding[], without: string): Finding {
	for (const verdict of ['contradicted', 'confirmed', 'untold'] as const) {
		const seen = parts.filter((part) => part.verdict === verdict).map((part) => part.seen);
		if (seen.length > 0) return { verdict, seen: [...new Set(seen)].join('; ') };
	}
	return untold(without);
}
