import type { Answer, Service } from './service';
import type { KnownTransaction, Survey } from './survey';
import type { Heard } from './listen';
import type { Shown } from './documented';

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

/** Everything that was sent and answered. */
export interface Gathered extends Survey {
	service: Service;
	transactions: KnownTransaction[];
	/** `none` if no offer could be charged. */
	charge?: Created | 'none';
	offer?: Created;
	/** Whether the body of the charge had a token of its own. */
	hasSecondToken: boolean;
	/** What --listen heard. */
	heard?: Heard;
}

export interface Evidence extends Gathered {
	shown: Shown;
}

export const confirmed = (seen: string): Finding => ({ verdict: 'confirmed', seen });
export const contradicted = (seen: string): Finding => ({ verdict: 'contradicted', seen });
export const untold = (seen: string): Finding => ({ verdict: 'untold', seen });

/** One finding of several parts: it is confirmed only if each of them is, and names them all. */
export function together(parts: Finding[], without: string): Finding {
	const sorted = (['contradicted', 'untold', 'confirmed'] as const).flatMap((verdict) =>
		parts.filter((part) => part.verdict === verdict),
	);
	const [first] = sorted;
	if (!first) return untold(without);
	const seen = new Set(sorted.map((part) => part.seen));
	return { verdict: first.verdict, seen: [...seen].join('; ') };
}
