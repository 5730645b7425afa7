import { z } from 'zod';
import { ENDPOINTS, type Endpoint } from './endpoints';
import type { ServiceWords } from './schemas/error';

/** Why a 2xx could not be used. */
export type UnreadableReason = 'html' | 'notJson' | 'empty' | 'tooLarge' | 'tooDeep' | 'otherShape';

/** The result of one request. The tokens are out of every text in it. */
export interface Outcome {
	kind: OutcomeKind;
	/** The HTTP status; undefined if no answer came. */
	status?: number;
	/** The parsed JSON; undefined if there was none. */
	body?: unknown;
	words: ServiceWords;
	unreadable?: UnreadableReason;
	/** Where a redirect pointed to: origin and path, never the query. */
	redirectedTo?: string;
	/** How long the service asks to wait. */
	retryAfterMs?: number;
	limits: LimitHeaders;
	/** The system code of a fault without an answer, for example `ECONNRESET`. */
	code?: string;
}

/** What an answer states of the rate limit. */
export interface LimitHeaders {
	limit?: number;
	remaining?: number;
}

export type RetryDecision = 'done' | 'retry' | 'fail' | 'unknownOutcome';

/**
 * What a workflow can tell of a failed request: the service refused it, it may have been done all the
 * same (of a read: no usable answer came), or it never reached the service.
 */
export type PublicOutcome = 'refused' | 'unknown' | 'notSent';

interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	/** What an error item shows. */
	shown: PublicOutcome;
}

/**
 * The one place that decides what is sent again. Money moves through POST and the service has no
 * idempotency key and no list of transactions, so a POST is repeated only if it provably was not
 * processed; any other failure of it is reported as an unknown outcome.
 */
const OUTCOMES = {
	/** A well-formed answer under 2xx. */
	success: { GET: 'done', POST: 'done', shown: 'unknown' },
	/** A 4xx other than 429, or `success: false`: the same request gets the same answer. */
	rejected: { GET: 'fail', POST: 'fail', shown: 'refused' },
	/**
	 * 408, 425 and 499 tell of a request that was broken off, 302 and 303 may follow work that was
	 * done, and a 409 without a reason may mean that it was done before.
	 */
	unclear: { GET: 'fail', POST: 'unknownOutcome', shown: 'unknown' },
	/**
	 * 429 (API document, Errors 2). That nothing was done then is not in the document; it is assumed,
	 * since a limit is there to keep work away.
	 */
	rateLimited: { GET: 'retry', POST: 'retry', shown: 'refused' },
	/** 502, 503 and 504 come from a proxy that cannot say whether the service did the work. */
	unavailable: { GET: 'retry', POST: 'unknownOutcome', shown: 'unknown' },
	/** Any other 5xx may have struck after the charge was made. A read that met it meets it again. */
	serverError: { GET: 'fail', POST: 'unknownOutcome', shown: 'unknown' },
	/** Never followed, since it would take the tokens elsewhere; but nothing was processed here. */
	redirected: { GET: 'fail', POST: 'fail', shown: 'refused' },
	/** A 2xx whose body is HTML, cut short or of another shape is still a success. */
	unreadable: { GET: 'fail', POST: 'unknownOutcome', shown: 'unknown' },
	/** Provably never reached the service: no such host, connection refused, bad certificate. */
	notSent: { GET: 'retry', POST: 'retry', shown: 'notSent' },
	/** n8n's protection against requests to private addresses, which will block it again. */
	blocked: { GET: 'fail', POST: 'fail', shown: 'notSent' },
	/** A time-out or a broken connection after sending: the service may have done the work. */
	interrupted: { GET: 'retry', POST: 'unknownOutcome', shown: 'unknown' },
} as const satisfies Record<string, Rule>;

/** How one request ended. */
export type OutcomeKind = keyof typeof OUTCOMES;

/** Whether a request is sent again. */
export function retryDecision(method: 'GET' | 'POST', kind: OutcomeKind): RetryDecision {
	return OUTCOMES[kind][method];
}

/** The outcome that an error item shows. */
export function publicOutcome(kind: OutcomeKind): PublicOutcome {
	return OUTCOMES[kind].shown;
}

const UNCLEAR: ReadonlySet<number> = new Set([302, 303, 408, 409, 425, 499]);

/** The kind of an HTTP answer by its status alone; a 2xx still has to be read. */
export function kindOfStatus(status: number): OutcomeKind {
	if (status === 429) return 'rateLimited';
	if (status >= 200 && status < 300) return 'success';
	if (UNCLEAR.has(status)) return 'unclear';
	if (status >= 300 && status < 400) return 'redirected';
	if (status === 502 || status === 503 || status === 504) return 'unavailable';
	if (status >= 500) return 'serverError';
	return 'rejected';
}

const NEVER_SENT_CODES: ReadonlySet<string> = new Set([
	'ECONNREFUSED',
	'ENOTFOUND',
	'EAI_AGAIN',
	'CERT_HAS_EXPIRED',
	'CERT_NOT_YET_VALID',
	'DEPTH_ZERO_SELF_SIGNED_CERT',
	'SELF_SIGNED_CERT_IN_CHAIN',
	'UNABLE_TO_GET_ISSUER_CERT',
	'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
	'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
	'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** System calls that come before the first byte of a request. */
const NEVER_SENT_CALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** What n8n passes on of a fault without an answer. */
interface Fault {
	code?: string;
	/** Tells a host that could not be reached at all from one that was lost after sending. */
	syscall?: string;
	isBlocked?: boolean;
}

/** The kind of a fault without an answer. */
export function kindOfFault({ code, syscall, isBlocked }: Fault): OutcomeKind {
	if (isBlocked) return 'blocked';
	const neverSent =
		(code !== undefined && NEVER_SENT_CODES.has(code)) ||
		(syscall !== undefined && NEVER_SENT_CALLS.has(syscall));
	return neverSent ? 'notSent' : 'interrupted';
}

const systemName = z
	.string()
	.regex(/^[A-Za-z_]{2,40}$/)
	.optional()
	.catch(undefined);
/** n8n's names of faults that keep requests from private addresses. */
const isBlocked = z
	.enum(['SsrfBlockedHostnameError', 'SsrfBlockedIpError', 'UnknownConnectionHostError'])
	.transform(() => true)
	.optional()
	.catch(undefined);
const link = z.object({
	name: isBlocked,
	code: systemName,
	syscall: systemName,
	cause: z.unknown(),
});
const DEEPEST_CAUSE = 5;

/**
 * Reads why a request got no answer from the error and its causes, as n8n wraps it: codes and names
 * only, because these errors carry the request with its headers.
 */
export function readFault(error: unknown): Fault {
	const fault: Fault = {};
	let current: unknown = error;
	for (let depth = 0; depth < DEEPEST_CAUSE; depth++) {
		const parsed = link.safeParse(current);
		if (!parsed.success) break;
		fault.code ??= parsed.data.code;
		fault.syscall ??= parsed.data.syscall;
		if (parsed.data.name) fault.isBlocked = true;
		current = parsed.data.cause;
	}
	return fault;
}

/** An outcome without a usable answer. */
export function withoutAnswer(kind: OutcomeKind, code?: string): Outcome {
	return { kind, code, limits: {}, words: { messages: [], fields: {} } };
}

/** An outcome without the body, which may be large. */
export type FailedOutcome = Omit<Outcome, 'body'>;

/** A request that failed, with no trace of the request itself, so that nothing secret travels along. */
export class ServiceError extends Error {
	readonly outcome: FailedOutcome;
	/** Whether a charge or an offer may have been made although no usable answer came. */
	readonly outcomeUnknown: boolean;

	/** @param tries how many times the request was sent */
	constructor(
		readonly endpoint: Endpoint,
		{ body: _body, ...outcome }: Outcome,
		readonly tries: number,
	) {
		super(`${endpoint}: ${outcome.kind}`);
		this.name = 'ServiceError';
		this.outcome = outcome;
		const { method } = ENDPOINTS[endpoint];
		this.outcomeUnknown = retryDecision(method, outcome.kind) === 'unknownOutcome';
	}
}
