import { ENDPOINTS, type Endpoint } from './endpoints';
import { RETRY_TABLE, type OutcomeKind, type Rule, type ShownOutcome } from './retryTable';
import type { ServiceWords } from './schemas/answer';

export interface Outcome {
	kind: OutcomeKind;
	status?: number;
	words?: ServiceWords;
	isWebPage?: boolean;
	redirectedTo?: string;
	retryAfterMs?: number;
	code?: string;
}

/** What `output/` shows of an error. */
export interface Facts {
	advice?: string;
	shown: ShownOutcome;
	answer?: Outcome;
}

/** A 404 may concern the resource or the address. */
const NOT_FOUND: Record<Endpoint, [missing: string, check: string]> = {
	'GET /transactions/{hash}': ['no transaction with this hash', 'Check the hash. '],
	'POST /products/{hash}/offers': ['no product with this hash', 'Check Product. '],
	'POST /transactions': ['nothing for this charge', 'Check the offers in Cart. '],
	'GET /products': ['no products at this address', ''],
};

/** A read is never in doubt. */
const DOUBT: Partial<Record<Endpoint, string>> = {
	'POST /transactions': 'The customer may already have been charged',
	'POST /products/{hash}/offers': 'The offer may already exist',
};

/** The platform says that it does not know the hash. A page means a wrong path. */
export function isUnknownHash({ status, isWebPage = false }: Outcome): boolean {
	return status === 404 && !isWebPage;
}

/** Holds nothing of the failed request, which contains secrets. */
export class ServiceError extends Error {
	readonly facts: Facts;
	readonly isInDoubt: boolean;

	constructor(
		readonly endpoint: Endpoint,
		readonly outcome: Outcome,
		readonly tries: number,
	) {
		const { kind, status = 0, redirectedTo } = outcome;
		const row: Rule = RETRY_TABLE[kind];
		const [missing, check] = NOT_FOUND[endpoint];

		const message = kind === 'notFound' ? `The platform found ${missing}` : row.message;
		const happened = status < 300 ? message : `${message} (${status})`;
		const isInDoubt = row[ENDPOINTS[endpoint].method] === 'inDoubt';
		super(isInDoubt ? `${DOUBT[endpoint]}: ${happened.replace('The', 'the')}` : happened);
		this.name = 'ServiceError';
		this.isInDoubt = isInDoubt;

		this.facts = { advice: row.advice, shown: row.shown, answer: outcome };
		if (kind === 'notFound') this.facts.advice = check + row.advice;
		if (status === 405) this.facts.advice = RETRY_TABLE.webPage.advice;
		// `createOnce` replaces it. Never the advice of the row, such as to try again, which could charge twice.
		if (isInDoubt) this.facts.advice = 'Look for it on your platform in a few minutes.';
		if (redirectedTo !== undefined) this.facts.advice += ` It pointed to ${redirectedTo}.`;
	}

	/** A deleted transaction may get a 404, also as a page, another 4xx, or a failure with status 200. */
	get mayBeGone(): boolean {
		return ['notFound', 'rejected'].includes(this.outcome.kind);
	}

	/** Only the owner of the token can correct this. */
	get isTokenRefused(): boolean {
		return this.outcome.kind === 'badToken';
	}
}
