import { lowerFirst } from 'lodash';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { type AnswerKind, type Outcome, RETRY_TABLE, type Rule } from './retryTable';
import type { ServiceWords } from './schemas/answer';

/** How the platform answered a try, or why it did not. */
export interface Answer {
	kind: AnswerKind;
	/** Missing if no answer came. */
	status?: number;
	words?: ServiceWords;
	/** Whether the body is a web page. With a 404 it means a wrong path, not an unknown hash. */
	isWebPage?: boolean;
	redirectedTo?: string;
	retryAfterMs?: number;
	/** Of Node.js, if no answer came. */
	code?: string;
}

/** What an error says besides its message. */
export interface ErrorFacts {
	advice?: string;
	outcome: Outcome;
	/** Missing if the platform was not asked. */
	answer?: Answer;
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

/** Holds nothing of the failed request, which contains secrets. */
export class ServiceError extends Error implements ErrorFacts {
	advice: string;
	readonly outcome: Outcome;
	readonly isInDoubt: boolean;

	constructor(
		readonly endpoint: Endpoint,
		readonly answer: Answer,
		readonly tries: number,
	) {
		const { kind, status = 0, redirectedTo } = answer;
		const row: Rule = RETRY_TABLE[kind];
		const [missing, check] = NOT_FOUND[endpoint];

		const message = kind === 'notFound' ? `The platform found ${missing}` : row.message;
		const happened = status < 300 ? message : `${message} (${status})`;
		const isInDoubt = row[ENDPOINTS[endpoint].method] === 'inDoubt';
		super(isInDoubt ? `${DOUBT[endpoint]}: ${lowerFirst(happened)}` : happened);
		this.name = 'ServiceError';
		this.outcome = row.outcome;
		this.isInDoubt = isInDoubt;

		this.advice = row.advice;
		if (kind === 'notFound') this.advice = check + row.advice;
		if (status === 405) this.advice = RETRY_TABLE.webPage.advice;
		// `createOnce` replaces it. Never the advice of the row, such as to try again, which could charge twice.
		if (isInDoubt) this.advice = 'Look for it on your platform in a few minutes.';
		if (redirectedTo !== undefined) this.advice += ` It pointed to ${redirectedTo}.`;
	}

	/** The platform says that it does not know the hash. A page means a wrong path. */
	get isHashUnknown(): boolean {
		return this.answer.status === 404 && !this.answer.isWebPage;
	}

	/** A deleted transaction may get a 404, also as a page, another 4xx, or a failure with status 200. */
	get mayBeGone(): boolean {
		return ['notFound', 'rejected'].includes(this.answer.kind);
	}

	/** Only the owner of the token can correct this. A page comes from a firewall. */
	get isTokenRefused(): boolean {
		return this.answer.kind === 'badToken' && !this.answer.isWebPage;
	}

	/**
	 * The platform refuses for good. By the row of a POST, because that of a GET fails also at a 500. A failure with status
	 * 200, and a page, may go away.
	 */
	get isFinal(): boolean {
		const { kind, status, isWebPage } = this.answer;
		return RETRY_TABLE[kind].POST === 'fail' && status !== 200 && !isWebPage;
	}
}
