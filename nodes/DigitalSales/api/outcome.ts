import compact from 'lodash/compact';
import { z } from 'zod';
import { ENDPOINTS, type Endpoint } from './endpoints';
import type { ServiceWords } from './schemas/error';

/** Why a 2xx could not be used. */
export type UnreadableReason = 'html' | 'notJson' | 'empty' | 'tooLarge' | 'otherShape';

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
	rateLimit: RateLimitHeaders;
	/** The system code of a fault without an answer, for example `ECONNRESET`. */
	code?: string;
}

/** What an answer states of the rate limit. */
export interface RateLimitHeaders {
	limit?: number;
	remaining?: number;
	/** How long until the service counts from zero again. */
	resetMs?: number;
}

/**
 * What follows from an outcome. A POST that fails, or whose retries run out, was not processed, so
 * `once/` lets the same charge be made again; after `inDoubt` the outcome is unknown, and the charge is
 * refused.
 */
export type RetryDecision = 'done' | 'retry' | 'fail' | 'inDoubt';

/**
 * What a workflow learns about a failed request: the service refused it, it may have been processed
 * (of a read: no usable answer came), or it never reached the service.
 */
export type ShownOutcome = 'refused' | 'unknown' | 'notSent';

interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	/** What an error item shows under `outcome`. */
	shown: ShownOutcome;
}

/**
 * The one place that decides what is sent again; docs/guide.md says it to users.
 * Money moves through POST, and the service has no idempotency key and no list of transactions. So a
 * POST is repeated only if it was not processed, and one that may have been is in doubt.
 * Which row an answer belongs to is decided below by its status or fault, in response.ts by its body,
 * and in client.ts if it breaks off. How often and when a request is sent again: backoff.ts.
 * Tests: test/product/unit/api/outcome.test.ts, and through the node in test/product/faults.
 */
const RETRY_TABLE = {
	/** A well-formed answer under 2xx. */
	success: { GET: 'done', POST: 'done', shown: 'unknown' },
	/**
	 * The service read the request and said no: a 4xx without a row of its own, or `success: false`
	 * under 2xx or 409.
	 */
	rejected: { GET: 'fail', POST: 'fail', shown: 'refused' },
	/**
	 * 408, 425 and 499 report a request that was cut off, 302 and 303 are also sent after the work is
	 * done, and a 409 without `success: false` may mean that it was done before.
	 */
	unclear: { GET: 'fail', POST: 'inDoubt', shown: 'unknown' },
	/**
	 * 429 (API document, Errors 2). The document does not say that nothing was processed; we assume it,
	 * because the purpose of a limit is to prevent work.
	 */
	rateLimited: { GET: 'retry', POST: 'retry', shown: 'refused' },
	/** 502, 503 and 504 come from a proxy that cannot say whether the service did the work. */
	unavailable: { GET: 'retry', POST: 'inDoubt', shown: 'unknown' },
	/** Any other 5xx: the fault may have happened after the charge. A read would fail again. */
	serverError: { GET: 'fail', POST: 'inDoubt', shown: 'unknown' },
	/** Any redirect but 302 and 303. It asks to send the request elsewhere, and the tokens with it. */
	redirected: { GET: 'fail', POST: 'fail', shown: 'refused' },
	/** A 2xx without a usable body: the status says done, but there is nothing to return. */
	unreadable: { GET: 'fail', POST: 'inDoubt', shown: 'unknown' },
	/** Failed before the first byte was sent: no such host, no connection, a bad certificate. */
	notSent: { GET: 'retry', POST: 'retry', shown: 'notSent' },
	/** Stopped by n8n's protection against requests to private addresses, which will stop it again. */
	blocked: { GET: 'fail', POST: 'fail', shown: 'notSent' },
	/** Everything else: a time-out or a broken connection after sending, or an unknown fault. */
	interrupted: { GET: 'retry', POST: 'inDoubt', shown: 'unknown' },
} as const satisfies Record<string, Rule>;

/** How one request ended. */
export type OutcomeKind = keyof typeof RETRY_TABLE;

/** Whether a request is sent again. */
export function retryDecision(method: 'GET' | 'POST', kind: OutcomeKind): RetryDecision {
	return RETRY_TABLE[kind][method];
}

/** The outcome that an error item shows. */
export function shownOutcome(kind: OutcomeKind): ShownOutcome {
	return RETRY_TABLE[kind].shown;
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

/** What n8n passes on of a fault. */
interface Fault {
	code?: string;
	/** The system call that failed. */
	syscall?: string;
	isBlocked?: boolean;
	/** Whether the connection was not ready for the first byte of the request. */
	isUnsent?: boolean;
}

/** Codes and system calls that cannot come after the first byte of a request. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'connect', 'getaddrinfo'];

/** The kind of a fault without an answer; if in doubt, the request may have been processed. */
export function kindOfFault({ code, syscall, isBlocked, isUnsent }: Fault): OutcomeKind {
	if (isBlocked) return 'blocked';
	const isNeverSent = compact([code, syscall]).some((name) => NEVER_SENT.includes(name));
	return isUnsent || isNeverSent ? 'notSent' : 'interrupted';
}

const systemName = z
	.string()
	.regex(/^[A-Za-z_]{2,40}$/)
	.optional()
	.catch(undefined);
const proof = (shape: z.ZodTypeAny) =>
	shape
		.transform(() => true)
		.optional()
		.catch(undefined);
const causeLink = z.object({
	/** What n8n calls the faults of its protection; the last one is a host that it has not checked. */
	name: proof(
		z.enum(['SsrfBlockedHostnameError', 'SsrfBlockedIpError', 'UnknownConnectionHostError']),
	),
	code: systemName,
	syscall: systemName,
	/**
	 * The request of Node.js. There is no socket before a proxy has answered; nothing is ever written to
	 * that of a proxy that refuses; and nothing is sent before TLS is established.
	 */
	request: proof(
		z.object({
			socket: z.union([
				z.null(),
				z.object({ bytesWritten: z.literal(0) }),
				z.object({ secureConnecting: z.literal(true) }),
			]),
		}),
	),
	/** Of several addresses, none of which Node.js could connect to. */
	errors: proof(z.array(z.object({ syscall: z.literal('connect') })).nonempty()),
	response: z.object({ status: z.number() }).optional().catch(undefined),
});

/**
 * Reads why a request got no answer from the error and its causes, as n8n wraps it: codes and names
 * only, because these errors carry the request with its headers.
 */
export function readFault(error: unknown): Fault {
	const fault: Fault = {};
	for (const cause of causesOf(error)) {
		const { name, code, syscall, request, response, errors } = causeLink.parse(cause);
		fault.code ??= request && response ? `a proxy answered ${response.status}` : code;
		fault.syscall ??= syscall;
		fault.isBlocked ||= name;
		fault.isUnsent ||= request ?? errors;
	}
	return fault;
}

const DEEPEST_CAUSE = 5;

/** An error and its causes, the outermost first. */
export function causesOf(error: unknown): object[] {
	const causes: object[] = [];
	let next = error;
	while (typeof next === 'object' && next !== null && causes.length < DEEPEST_CAUSE) {
		causes.push(next);
		next = 'cause' in next ? next.cause : undefined;
	}
	return causes;
}

/** An outcome without a usable answer. */
export function withoutAnswer(kind: OutcomeKind, code?: string): Outcome {
	return { kind, code, rateLimit: {}, words: { messages: [], fields: {} } };
}

/** An outcome without the body, which may be large. */
export type FailedOutcome = Omit<Outcome, 'body'>;

/** A request that failed, with no trace of the request itself, so that nothing secret travels along. */
export class ServiceError extends Error {
	readonly outcome: FailedOutcome;
	/** Whether a charge or an offer may have been made although no usable answer came. */
	readonly isInDoubt: boolean;

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
		this.isInDoubt = retryDecision(method, outcome.kind) === 'inDoubt';
	}
}
