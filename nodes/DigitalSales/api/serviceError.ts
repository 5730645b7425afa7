import { omit } from 'lodash';
import { ENDPOINTS, type Endpoint } from './endpoints';
import {
	RETRY_TABLE,
	retryDecision,
	type OutcomeKind,
	type Rule,
	type ShownOutcome,
	WRONG_PATH,
} from './retryTable';
import type { ServiceWords } from './schemas/answer';

export interface Outcome {
	kind: OutcomeKind;
	status?: number;
	body?: unknown;
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
	answer?: FailedOutcome;
}

/** Without the body, which may be large. */
export type FailedOutcome = Omit<Outcome, 'body'>;

/** A 404 may concern the resource or the address. */
const NOT_FOUND: Record<Endpoint, [message: string, advice: string]> = {
	'GET /transactions/{hash}': [
		'The platform found no transaction with this hash',
		'Check the hash. ',
	],
	'POST /products/{hash}/offers': [
		'The platform found no product with this hash',
		'Check Product. ',
	],
	'POST /transactions': [
		'The platform found nothing for this charge',
		'Check the offers in Cart. ',
	],
	'GET /products': ['The platform found no products at this address', ''],
};
const NO_HTTPS =
	'The encrypted connection failed. If this host and port speak http, correct the port in Base URL of the credential, or begin it with http:// within your own network.';
/** The platform does not say which token it refused. */
const TWO_TOKENS = {
	message: 'The platform does not accept one of the two tokens',
	advice:
		'Copy both again from your platform to API Token and Second API Token in the credential, without spaces. If this continues, ask the platform for the permission.',
};

/** A read is never in doubt. */
const DOUBT: Partial<Record<Endpoint, string>> = {
	'POST /transactions': 'The customer may already have been charged',
	'POST /products/{hash}/offers': 'The offer may already exist',
};

/** The platform says that it does not know the hash. A page means a wrong path. */
export function isUnknownHash({ status, isWebPage = false }: FailedOutcome): boolean {
	return status === 404 && !isWebPage;
}

/** Holds nothing of the failed request, which contains secrets. */
export class ServiceError extends Error {
	readonly outcome: FailedOutcome;
	readonly facts: Facts;
	readonly isInDoubt: boolean;

	constructor(
		readonly endpoint: Endpoint,
		outcome: Outcome,
		readonly tries: number,
		hasTwoTokens = false,
	) {
		const { kind, status = 0, redirectedTo } = outcome;
		const { message, advice, shown } = textsFor(outcome, endpoint, hasTwoTokens);

		const happened = status < 300 ? message : `${message} (${status})`;
		const isInDoubt = retryDecision(ENDPOINTS[endpoint].method, kind) === 'inDoubt';
		super(isInDoubt ? `${DOUBT[endpoint]}: ${happened.replace('The', 'the')}` : happened);
		this.name = 'ServiceError';
		this.outcome = omit(outcome, 'body');
		this.isInDoubt = isInDoubt;

		this.facts = { advice, shown, answer: this.outcome };
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

	/** Replaces what the error says to do. */
	advise(advice: string): void {
		this.facts.advice = advice;
	}
}

function textsFor(
	{ kind, status, code }: FailedOutcome,
	endpoint: Endpoint,
	hasTwoTokens: boolean,
): Pick<Rule, 'message' | 'advice' | 'shown'> {
	const row = RETRY_TABLE[kind];

	if (status === 405) return { ...row, advice: WRONG_PATH };
	if (kind === 'notSent' && code === 'EPROTO') return { ...row, advice: NO_HTTPS };
	if (kind === 'badToken' && hasTwoTokens) return { ...row, ...TWO_TOKENS };
	if (kind !== 'notFound') return row;

	const [message, advice] = NOT_FOUND[endpoint];
	return { ...row, message, advice: advice + row.advice };
}
