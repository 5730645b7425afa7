/**
 * What can come of one request. `notSent` is only what provably never reached the service: the name
 * was not found, the connection was refused, the certificate was not accepted. `blocked` is what n8n
 * itself did not let out.
 */
export type Situation =
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

export type Verdict = 'done' | 'retry' | 'fail' | 'unknownOutcome';

interface Rule {
	GET: Verdict;
	POST: Verdict;
	why: string;
}

/**
 * The one place that decides what is sent again. Money moves through POST and the service has no
 * idempotency key and no list of transactions, so a POST is repeated only where it provably was not
 * processed; whatever else goes wrong with it is reported as an unknown outcome.
 */
const RETRY_TABLE: Readonly<Record<Situation, Rule>> = {
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

/** What the table says of a situation on an endpoint. */
export function verdict(method: 'GET' | 'POST', situation: Situation): Verdict {
	return RETRY_TABLE[situation][method];
}

/**
 * What a workflow can go by after a failed request: the service refused it, it may have been done all
 * the same, or it never reached the service. Of a read, unknown says that no usable answer came.
 */
export type RequestOutcome = 'refused' | 'unknown' | 'notSent';

const REFUSED: ReadonlySet<Situation> = new Set(['rejected', 'rateLimited', 'redirected']);
const NOT_SENT: ReadonlySet<Situation> = new Set(['notSent', 'blocked']);

/** The outcome of a request that failed. */
export function outcomeOf(situation: Situation): RequestOutcome {
	if (NOT_SENT.has(situation)) return 'notSent';
	return REFUSED.has(situation) ? 'refused' : 'unknown';
}

const UNCLEAR: ReadonlySet<number> = new Set([302, 303, 408, 409, 425, 499]);

/** The kind of an HTTP answer by its status alone; a 2xx still has to be read. */
export function situationOfStatus(status: number): Situation {
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

/** What n8n calls the faults by which it keeps requests from private addresses. */
export const BLOCKED_BY_N8N = [
	'SsrfBlockedHostnameError',
	'SsrfBlockedIpError',
	'UnknownConnectionHostError',
] as const;

/** System calls that come before the first byte of a request. */
const NEVER_SENT_CALLS: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);

/** What the system says of a fault that gave no answer, as far as n8n passes it on. */
export interface Fault {
	code?: string;
	/** Tells a host that could not be reached at all from one that was lost after sending. */
	syscall?: string;
	/** Whether n8n did not let the request out. */
	isBlocked?: boolean;
}

/** The kind of a fault that gave no answer. */
export function situationOfFault({ code, syscall, isBlocked }: Fault): Situation {
	if (isBlocked) return 'blocked';
	const neverSent =
		(code !== undefined && NEVER_SENT_CODES.has(code)) ||
		(syscall !== undefined && NEVER_SENT_CALLS.has(syscall));
	return neverSent ? 'notSent' : 'interrupted';
}

/** How often and how long a request is tried. Times in milliseconds. */
export interface RetryLimits {
	/** Tries in all, the first included. A 429 that says how long to wait is waited out instead. */
	maxTries: number;
	/** No new try starts later than this after the first one. */
	maxTotalMs: number;
}

export const DEFAULT_RETRY_LIMITS: Readonly<RetryLimits> = { maxTries: 5, maxTotalMs: 300_000 };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * Exponential backoff with full jitter: a random time between nothing and a cap that doubles with
 * each try, so that many executions that failed together do not come back together.
 *
 * @param failedTries how many tries have failed so far, at least 1
 * @param random a number from 0 up to 1
 */
export function backoffMs(failedTries: number, random: number): number {
	const cap = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1));
	return Math.round(random * cap);
}

const FIRST_RATE_LIMIT_WAIT_MS = 5_000;
const LONGEST_RATE_LIMIT_WAIT_MS = 60_000;

/**
 * How long to wait after a 429 at least, whatever it says: doubling up to the minute in which all
 * limits of the document are counted, the upper half of it at random.
 *
 * @param rateLimitHits 429s so far, this one included
 * @param random a number from 0 up to 1
 */
export function rateLimitWaitMs(rateLimitHits: number, random: number): number {
	const cap = Math.min(
		LONGEST_RATE_LIMIT_WAIT_MS,
		FIRST_RATE_LIMIT_WAIT_MS * 2 ** (rateLimitHits - 1),
	);
	return Math.round(cap / 2 + (random * cap) / 2);
}

/** Whether the limits leave room for another try. */
export function mayRetry(
	limits: RetryLimits,
	used: { failedTries: number; elapsedMs: number; delayMs: number },
): boolean {
	return used.failedTries < limits.maxTries && used.elapsedMs + used.delayMs <= limits.maxTotalMs;
}
