import compact from 'lodash/compact';
import { z } from 'zod/v3';
import { tolerated } from './schemas/lenient';
import type { ServiceWords } from './schemas/error';

/**
 * The documented endpoints (API document, Endpoints 1 to 4), named as the document names them. If no
 * limit is documented, nothing is paced until the service itself answers 429.
 */
export const ENDPOINTS = {
	'GET /products': { method: 'GET', requestsPerMinute: 20, timeoutMs: 60_000 },
	'POST /products/{hash}/offers': {
		method: 'POST',
		requestsPerMinute: undefined,
		timeoutMs: 60_000,
	},
	/** Stopping early leaves a charge that nobody knows of. */
	'POST /transactions': { method: 'POST', requestsPerMinute: undefined, timeoutMs: 120_000 },
	'GET /transactions/{hash}': { method: 'GET', requestsPerMinute: undefined, timeoutMs: 60_000 },
} as const;

export type Endpoint = keyof typeof ENDPOINTS;

/** The result of one request. The tokens are out of every text in it. */
export interface Outcome {
	kind: OutcomeKind;
	/** Undefined if no answer came. */
	status?: number;
	body?: unknown;
	words: ServiceWords;
	/** Whether the answer was a web page, and not that of a proxy. */
	isWebPage?: boolean;
	/** Where a redirect pointed to: origin and path, never the query. */
	redirectedTo?: string;
	/** How long a 429 or another failure asks to wait. */
	retryAfterMs?: number;
	/** The system code of a fault without an answer, for example `ECONNRESET`. */
	code?: string;
}

/**
 * What follows from a failure. A POST that fails, or whose retries run out, was not processed, so
 * `once/` lets the same charge be made again; after `inDoubt` the outcome is unknown, and the charge is
 * refused.
 */
export type RetryDecision = 'retry' | 'fail' | 'inDoubt';

/**
 * What a workflow learns about a failed request: the service refused it, it may have been processed
 * (of a read: no usable answer came), or it never reached the service.
 */
export type ShownOutcome = 'refused' | 'unknown' | 'notSent';

interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	shown: ShownOutcome;
	/** The status of a failure is put behind it. */
	message: string;
	advice: string;
}

const REFUSED = { GET: 'fail', POST: 'fail', shown: 'refused' } as const;
const UNUSABLE = { GET: 'fail', POST: 'inDoubt', shown: 'unknown' } as const;
const PASSING = { GET: 'retry', POST: 'inDoubt', shown: 'unknown' } as const;
const NOT_ACCEPTED = 'The service did not accept the request';
const REDIRECT = {
	message: 'The service answered with a redirect',
	advice: 'Redirects are not followed: set Base URL in the credential to the final address.',
};
const SERVER_ERROR = {
	message: 'The service returned an error',
	advice: 'The problem is on the side of the service. Try again later.',
};
const UNREADABLE_ADVICE = 'Try again. If this continues, check Base URL in the credential.';

/**
 * The one place that decides what is sent again, and what a person reads about it. Money moves through
 * POST, and the service has no idempotency key and no list of transactions. So a POST is repeated only
 * if it was not processed, and one that may have been is in doubt.
 * Which row an answer belongs to is decided below by its status or fault, in response.ts by its body,
 * and in client.ts if it breaks off; how often and when a request is sent again, too.
 */
const RETRY_TABLE = {
	/** Any 2xx with JSON; the rule is for one that is not of the documented shape. */
	success: {
		...UNUSABLE,
		message: 'The service answered in an undocumented format',
		advice: UNREADABLE_ADVICE,
	},
	/** The service read the request and said no: any other 4xx, or `success: false` under 2xx or 409. */
	rejected: {
		...REFUSED,
		message: NOT_ACCEPTED,
		advice: 'Correct what the service rejected, then run this again.',
	},
	/** 401 */
	badToken: {
		...REFUSED,
		message: 'The service does not accept the API token',
		advice: 'Copy the token again from the service to API Token in the credential, without spaces.',
	},
	/** 403 */
	noPermission: {
		...REFUSED,
		message: 'The API token has no permission for this',
		advice: 'Use a token of an account that may do this, or ask the service for the permission.',
	},
	/** 404 */
	notFound: {
		...REFUSED,
		message: 'The service found nothing at this address',
		advice:
			'Check the hash. If every operation fails like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
	},
	/** 408, 425 and 499 report a request that was cut off; a 409 may mean that it was done before. */
	unclear: { ...UNUSABLE, message: NOT_ACCEPTED, advice: 'Try again later.' },
	/**
	 * 429 (API document, Errors 2). The document does not say that nothing was processed; we assume it,
	 * because the purpose of a limit is to prevent work.
	 */
	rateLimited: {
		...{ GET: 'retry', POST: 'retry', shown: 'refused' },
		message: 'The service is still limiting requests',
		advice: 'Try again later, or run fewer workflows of this account at the same time.',
	},
	/** 502, 503 and 504 come from a proxy that cannot say whether the service did the work. */
	unavailable: { ...PASSING, ...SERVER_ERROR },
	/** Any other 5xx: the fault may have happened after the charge. A read would fail again. */
	serverError: { ...UNUSABLE, ...SERVER_ERROR },
	/** It asks to send the request elsewhere, and the tokens with it. */
	redirected: { ...REFUSED, ...REDIRECT },
	/** 302 and 303 are also sent after the work is done. */
	seeOther: { ...UNUSABLE, ...REDIRECT },
	/** A 2xx without a usable body: the status says done, but there is nothing to return. */
	unreadable: {
		...UNUSABLE,
		message: 'The answer of the service could not be read',
		advice: UNREADABLE_ADVICE,
	},
	webPage: {
		...UNUSABLE,
		message: 'The service answered with a web page instead of data',
		advice:
			'Check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
	},
	tooLarge: {
		...UNUSABLE,
		message: 'The answer of the service is too large to read',
		advice: 'Check Base URL in the credential. To list products, set Options > Page Size.',
	},
	/** Failed before the first byte was sent: no such host, no connection, a bad certificate. */
	notSent: {
		...{ GET: 'retry', POST: 'retry', shown: 'notSent' },
		message: 'The service could not be reached',
		advice:
			'Nothing was sent. Check the host in Base URL of the credential, and that this n8n can reach it, through its proxy if it has one.',
	},
	/** Stopped by n8n's protection against requests to private addresses, which will stop it again. */
	blocked: {
		...{ GET: 'fail', POST: 'fail', shown: 'notSent' },
		message: 'n8n blocked the request to the host of the service',
		advice:
			'Nothing was sent. Correct the host in Base URL of the credential, or ask the administrator of this n8n to allow it (N8N_SSRF_ALLOWED_HOSTNAMES).',
	},
	/** Everything else: a time-out or a broken connection after sending, or an unknown fault. */
	interrupted: {
		...PASSING,
		message: 'The service did not answer in time, or the connection broke',
		advice: 'Try again later.',
	},
} as const satisfies Record<string, Rule>;

export type OutcomeKind = keyof typeof RETRY_TABLE;

export function retryDecision(method: 'GET' | 'POST', kind: OutcomeKind): RetryDecision {
	return RETRY_TABLE[kind][method];
}

const OF_STATUS = new Map<number, OutcomeKind>([
	[401, 'badToken'],
	[403, 'noPermission'],
	[404, 'notFound'],
	[429, 'rateLimited'],
	...[302, 303].map((status) => [status, 'seeOther'] as const),
	...[408, 409, 425, 499].map((status) => [status, 'unclear'] as const),
	...[502, 503, 504].map((status) => [status, 'unavailable'] as const),
]);

/** The kind of an HTTP answer by its status alone; a 2xx still has to be read. */
export function kindOfStatus(status: number): OutcomeKind {
	const kind = OF_STATUS.get(status);
	if (kind) return kind;
	if (status >= 500) return 'serverError';
	if (status >= 200 && status < 300) return 'success';
	return status >= 300 && status < 400 ? 'redirected' : 'rejected';
}

/** Codes and system calls that cannot come after the first byte of a request. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'connect', 'getaddrinfo'];
/** What n8n calls the faults of its protection; the last one is a host that it has not checked. */
const BLOCKED = ['SsrfBlockedHostnameError', 'SsrfBlockedIpError', 'UnknownConnectionHostError'];

const systemName = tolerated(z.string().regex(/^[A-Za-z_]{2,40}$/));
const causeLink = z.object({
	name: tolerated(z.string()),
	code: systemName,
	syscall: systemName,
	/**
	 * A request of Node.js that was not sent. There is no socket before a proxy has answered; nothing is
	 * ever written to that of a proxy that refuses; and nothing is sent before TLS is established.
	 */
	request: tolerated(
		z.object({
			socket: z.union([
				z.null(),
				z.object({ bytesWritten: z.literal(0) }),
				z.object({ secureConnecting: z.literal(true) }),
			]),
		}),
	),
	/** Of several addresses, none of which Node.js could connect to. */
	errors: tolerated(z.array(z.object({ syscall: z.literal('connect') })).nonempty()),
	response: tolerated(z.object({ status: z.number() })),
});

/**
 * Reads why a request got no answer from the error and its causes, as n8n wraps it: codes and names
 * only, because these errors carry the request with its headers. If in doubt, the request may have
 * been processed.
 */
export function readFault(error: unknown): { kind: OutcomeKind; code?: string } {
	const causes = causesOf(error).map((cause) => causeLink.parse(cause));
	const [code] = compact(
		causes.map(({ request, response, code }) =>
			request && response ? `a proxy answered ${response.status}` : code,
		),
	);
	const [syscall] = compact(causes.map(({ syscall }) => syscall));
	const isNeverSent =
		NEVER_SENT.some((name) => name === code || name === syscall) ||
		causes.some(({ request, errors }) => request ?? errors);
	if (causes.some(({ name }) => name && BLOCKED.includes(name))) return { kind: 'blocked', code };
	return { kind: isNeverSent ? 'notSent' : 'interrupted', code };
}

const DEEPEST_CAUSE = 5;

/** The outermost first. */
export function causesOf(error: unknown): object[] {
	const causes: object[] = [];
	let next = error;
	while (typeof next === 'object' && next !== null && causes.length < DEEPEST_CAUSE) {
		causes.push(next);
		next = 'cause' in next ? next.cause : undefined;
	}
	return causes;
}

export function withoutAnswer(kind: OutcomeKind, code?: string): Outcome {
	return { kind, code, words: { messages: [], fields: {} } };
}

/** What a person and a workflow are told besides the message. */
export interface Facts {
	/** What to do now, in whole sentences. */
	advice?: string;
	/** Of something that was refused here, unknown if an earlier attempt may have done it. */
	outcome: ShownOutcome;
	/** The failed request, or the failed read that was to decide it; without the body, which may be large. */
	answer?: FailedOutcome;
}

export type FailedOutcome = Omit<Outcome, 'body'>;

/** A request that failed, with no trace of the request itself, so that nothing secret travels along. */
export class ServiceError extends Error {
	readonly outcome: FailedOutcome;
	readonly facts: Facts;
	/** Whether a charge or an offer may have been made although no usable answer came. */
	readonly isInDoubt: boolean;

	/** @param tries how many times the request was sent */
	constructor(
		readonly endpoint: Endpoint,
		{ body: _body, ...outcome }: Outcome,
		readonly tries: number,
	) {
		const { kind, status = 0, redirectedTo } = outcome;
		const { message, advice, shown } = RETRY_TABLE[kind];
		const happened = status < 300 ? message : `${message} (${status})`;
		const isInDoubt = retryDecision(ENDPOINTS[endpoint].method, kind) === 'inDoubt';
		const [doubt, thing] =
			endpoint === 'POST /transactions'
				? ['The customer may already have been charged', 'charge']
				: ['The offer may already exist', 'offer'];
		super(isInDoubt ? `${doubt}: ${happened.replace('The', 'the')}` : happened);
		this.name = 'ServiceError';
		this.outcome = outcome;
		this.isInDoubt = isInDoubt;
		const toDo = isInDoubt
			? `Check the service's dashboard before you run this again: the node then refuses the ${thing}, and shows a code that allows it once.`
			: advice;
		const pointed = redirectedTo === undefined ? '' : ` It pointed to ${redirectedTo}.`;
		this.facts = { advice: toDo + pointed, outcome: shown, answer: outcome };
	}
}
