import { RUN_AGAIN } from '../domain/text';

/**
 * A POST that fails, or whose retries run out, was not processed, so `idempotency/` allows the same charge
 * again. After `inDoubt` the outcome is unknown, and the same charge is refused.
 */
export type RetryDecision = 'retry' | 'fail' | 'inDoubt';

/** The `outcome` of a failed item, which workflows read. */
export type ShownOutcome = 'refused' | 'unknown' | 'notSent';

export interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	shown: ShownOutcome;
	/** The HTTP status of a failure is appended. */
	message: string;
	advice: string;
}

const REFUSED = { GET: 'fail', POST: 'fail', shown: 'refused' } as const;
const UNUSABLE = { GET: 'fail', POST: 'inDoubt', shown: 'unknown' } as const;
const TRANSIENT = { GET: 'retry', POST: 'inDoubt', shown: 'unknown' } as const;
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
 * Decides which requests are sent again, and what a person reads about a failure. The service has no
 * idempotency key and no list of transactions, so a POST is repeated only if it was not processed.
 */
export const RETRY_TABLE = {
	/** Any 2xx with JSON. The rule applies if its shape is not documented. */
	success: {
		...UNUSABLE,
		message: 'The service answered in an undocumented format',
		advice: UNREADABLE_ADVICE,
	},
	/** The service read the request and said no: any other 4xx, or `success: false` under 2xx or 409. */
	rejected: {
		...REFUSED,
		message: NOT_ACCEPTED,
		advice: `Correct what the service rejected, then ${RUN_AGAIN}.`,
	},
	badToken: {
		...REFUSED,
		message: 'The service does not accept the API token',
		advice: 'Copy the token again from the service to API Token in the credential, without spaces.',
	},
	noPermission: {
		...REFUSED,
		message: 'The API token has no permission for this',
		advice: 'Use a token of an account that may do this, or ask the service for the permission.',
	},
	/** Its texts depend on the endpoint (serviceError.ts). */
	notFound: {
		...REFUSED,
		message: 'The service found nothing at this address',
		advice: 'Check Base URL in the credential.',
	},
	/** 408, 425 and 499 report a request that was cut off; 409 may mean that it was processed before. */
	unclear: { ...UNUSABLE, message: NOT_ACCEPTED, advice: 'Try again later.' },
	/** 429 (API document, Errors 2). We assume that nothing was processed; the document does not say so. */
	rateLimited: {
		...{ GET: 'retry', POST: 'retry', shown: 'refused' },
		message: 'The service is still limiting requests',
		advice: `Wait a while, then ${RUN_AGAIN}, or run fewer workflows of this account at the same time.`,
	},
	/** 502, 503 and 504 come from a proxy, which does not know whether the service did the work. */
	unavailable: { ...TRANSIENT, ...SERVER_ERROR },
	/** Any other 5xx. The fault may have happened after the charge; a read would fail again. */
	serverError: { ...UNUSABLE, ...SERVER_ERROR },
	/** Any other 3xx. Following it would send the tokens to another host. */
	redirected: { ...REFUSED, ...REDIRECT },
	/** 302 and 303 may be sent after the work is done. */
	seeOther: { ...UNUSABLE, ...REDIRECT },
	/** A 2xx whose body is not JSON. */
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
	/** Failed before the first byte was sent: unknown host, no connection, bad certificate. */
	notSent: {
		...{ GET: 'retry', POST: 'retry', shown: 'notSent' },
		message: 'The service could not be reached',
		advice:
			'Check the host in Base URL of the credential, and that this n8n can reach it, through its proxy if it has one.',
	},
	/** n8n's protection against requests to private addresses would block it again. */
	blocked: {
		...{ GET: 'fail', POST: 'fail', shown: 'notSent' },
		message: 'n8n blocked the request to the host of the service',
		advice:
			'Correct the host in Base URL of the credential, or ask the administrator of this n8n to allow it (N8N_SSRF_ALLOWED_HOSTNAMES).',
	},
	/** Anything else without an answer: a time-out, a connection broken after sending, an unknown fault. */
	interrupted: {
		...TRANSIENT,
		message: 'The service did not answer in time, or the connection broke',
		advice: 'Try again later.',
	},
} as const satisfies Record<string, Rule>;

export type OutcomeKind = keyof typeof RETRY_TABLE;

export function retryDecision(method: 'GET' | 'POST', kind: OutcomeKind): RetryDecision {
	return RETRY_TABLE[kind][method];
}

const KIND_BY_STATUS = new Map<number, OutcomeKind>([
	[401, 'badToken'],
	[403, 'noPermission'],
	[404, 'notFound'],
	[429, 'rateLimited'],
	...[302, 303].map((status) => [status, 'seeOther'] as const),
	...[408, 409, 425, 499].map((status) => [status, 'unclear'] as const),
	...[502, 503, 504].map((status) => [status, 'unavailable'] as const),
]);

/** The kind of an answer by its status; the body may change it (response.ts). */
export function kindOfStatus(status: number): OutcomeKind {
	const kind = KIND_BY_STATUS.get(status);
	if (kind) return kind;
	if (status >= 500) return 'serverError';
	if (status >= 200 && status < 300) return 'success';
	return status >= 300 && status < 400 ? 'redirected' : 'rejected';
}
