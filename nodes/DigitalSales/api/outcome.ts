import { z } from 'zod';
import { ENDPOINTS, type Endpoint } from './endpoints';
import type { ServiceWords } from './schemas/error';

/**
 * What can come of one request. `notSent` is only what provably never reached the service: the name
 * was not found, the connection was refused, the certificate was not accepted. `blocked` is what n8n
 * itself did not let out.
 */
export type OutcomeKind =
	| 'success'
	| 'rejected'
	| 'unclear'
	| 'rateLimited'
	| 'unavailable'
	| 'serverError'
	| 'redirected'
	| 'unreadable'
	| 'notSent'
	| 'blocked'
	| 'interrupted';

/** Why a 2xx could not be used. */
export type UnreadableReason = 'html' | 'notJson' | 'empty' | 'tooLarge' | 'tooDeep' | 'otherShape';

/** What came of one request. The tokens are out of every text in it. */
export interface Outcome {
	kind: OutcomeKind;
	/** The HTTP status; undefined if no answer came. */
	status?: number;
	/** The parsed JSON; undefined if there was none. */
	body?: unknown;
	/** What the service says of a failure. */
	words: ServiceWords;
	unreadable?: UnreadableReason;
	/** Where a redirect pointed to: origin and path, never the query. */
	redirectedTo?: string;
	/** How long the service asks to wait. */
	retryAfterMs?: number;
	/** What the service says of its rate limit. */
	limits: LimitHeaders;
	/** The system code of a fault without an answer, for example `ECONNRESET`. */
	code?: string;
}

/** What the headers of an answer say of the rate limit. */
export interface LimitHeaders {
	limit?: number;
	remaining?: number;
}

export type RetryDecision = 'done' | 'retry' | 'fail' | 'unknownOutcome';

interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	why: string;
}

/**
 * The one place that decides what is sent again. Money moves through POST and the service has no
 * idempotency key and no list of transactions, so a POST is repeated only if it provably was not
 * processed; whatever else goes wrong with it is reported as an unknown outcome.
 */
const RETRY_TABLE: Readonly<Record<OutcomeKind, Rule>> = {
	success: { GET: 'done', POST: 'done', why: 'A well-formed answer under 2xx.' },
	rejected: {
		GET: 'fail',
		POST: 'fail',
		why: 'A 4xx other than 429, or success: false: the service read the request and refused it; the same request gets the same answer.',
	},
	unclear: {
		GET: 'fail',
		POST: 'unknownOutcome',
		why: '408, 425 and 499 tell of a request that was broken off, 302 and 303 may follow work that was done, and a 409 without a reason may mean that it was done before.',
	},
	rateLimited: {
		GET: 'retry',
		POST: 'retry',
		why: '429 says that the limit was exceeded (API document, Errors 2). That nothing was done then is not in the document; it is assumed, since a limit is there to keep work away.',
	},
	unavailable: {
		GET: 'retry',
		POST: 'unknownOutcome',
		why: '502, 503 and 504 come from a proxy that cannot say whether the service behind it did the work. Reading again harms nobody.',
	},
	serverError: {
		GET: 'fail',
		POST: 'unknownOutcome',
		why: 'Any other 5xx: a fault in the service itself, which may have struck after the charge was made. A read that met it meets it again.',
	},
	redirected: {
		GET: 'fail',
		POST: 'fail',
		why: 'Redirects are never followed: they would take the tokens elsewhere. The request was not processed here; 302 and 303, which may follow processing, are unclear.',
	},
	unreadable: {
		GET: 'fail',
		POST: 'unknownOutcome',
		why: 'A 2xx whose body is HTML, cut short or of another shape: a success that cannot be read is not a failure.',
	},
	notSent: {
		GET: 'retry',
		POST: 'retry',
		why: 'Nothing reached the service.',
	},
	blocked: {
		GET: 'fail',
		POST: 'fail',
		why: "n8n's protection against requests to private addresses stopped it before a connection was made, and will do so again.",
	},
	interrupted: {
		GET: 'retry',
		POST: 'unknownOutcome',
		why: 'A time-out or a broken connection after sending: the service may have done the work all the same.',
	},
};

/** What the table says of an outcome. */
export function retryDecision(method: 'GET' | 'POST', kind: OutcomeKind): RetryDecision {
	return RETRY_TABLE[kind][method];
}

/**
 * What a workflow can go by after a failed request: the service refused it, it may have been done all
 * the same, or it never reached the service. Of a read, unknown says that no usable answer came.
 */
export type PublicOutcome = 'refused' | 'unknown' | 'notSent';

const REFUSED: ReadonlySet<OutcomeKind> = new Set(['rejected', 'rateLimited', 'redirected']);
const NOT_SENT: ReadonlySet<OutcomeKind> = new Set(['notSent', 'blocked']);

/** A failed request in the words of an error item. */
export function publicOutcome(kind: OutcomeKind): PublicOutcome {
	if (NOT_SENT.has(kind)) return 'notSent';
	return REFUSED.has(kind) ? 'refused' : 'unknown';
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

/** What the system says of a fault that gave no answer, as far as n8n passes it on. */
interface Fault {
	code?: string;
	/** Tells a host that could not be reached at all from one that was lost after sending. */
	syscall?: string;
	/** Whether n8n did not let the request out. */
	isBlocked?: boolean;
}

/** The kind of a fault that gave no answer. */
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
/** What n8n calls the faults by which it keeps requests from private addresses. */
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
 * Reads the system code of a request that got no answer. n8n wraps the fault in an error of its own,
 * so the chain of causes is followed; nothing but codes and names is taken from it, because the
 * errors in it carry the request with its headers.
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

/** What an error keeps of an outcome: a body may be large. */
export type FailedOutcome = Omit<Outcome, 'body'>;

/**
 * A request to the service that did not give what was asked for: what came of it and no trace of the
 * request, so that nothing secret can travel with it.
 */
export class ServiceError extends Error {
	readonly outcome: FailedOutcome;
	/** True if a charge or an offer may have been made although no usable answer came. */
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
