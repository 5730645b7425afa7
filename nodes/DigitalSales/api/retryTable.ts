import { RUN_AGAIN } from '../domain';

/**
 * Of a POST, `retry` and `fail` say that the platform did not process it, so `idempotency/` allows the same charge later.
 * `inDoubt` says that it may have, so `idempotency/` refuses the same charge. A GET is never in doubt.
 */
type RetryDecision = 'retry' | 'fail' | 'inDoubt';

/** What became of a failed item's request. Workflows read it in the item's `error.outcome`. */
export type Outcome = 'refused' | 'unknown' | 'notSent';

export interface Rule {
	GET: RetryDecision;
	POST: RetryDecision;
	outcome: Outcome;
	message: string;
	advice: string;
}

const REPEATABLE = { GET: 'retry', POST: 'retry' } as const;
const REFUSED = { GET: 'fail', POST: 'fail', outcome: 'refused' } as const;
const UNUSABLE = { GET: 'fail', POST: 'inDoubt', outcome: 'unknown' } as const;
const TRANSIENT = { GET: 'retry', POST: 'inDoubt', outcome: 'unknown' } as const;
const REDIRECT = {
	message: 'The platform answered with a redirect',
	advice: 'Redirects are not followed: set Base URL in the credential to the final address.',
};
const TRY_LATER = 'Try again later.';
const SERVER_ERROR = { message: 'The platform returned an error', advice: TRY_LATER };

/**
 * The platform has no idempotency key and no list of transactions, so a POST is repeated only if it was not
 * processed.
 */
export const RETRY_TABLE = {
	/** This row applies if the answer is too large, no JSON or of an undocumented shape. */
	success: {
		...UNUSABLE,
		message: 'The answer of the platform could not be read',
		advice:
			'Try again. If this continues, check Base URL in the credential. To list products, set Options > Page Size.',
	},
	rejected: {
		...REFUSED,
		message: 'The platform did not accept the request',
		advice: `Correct what the platform rejected, then ${RUN_AGAIN}.`,
	},
	/** The platform does not say which token it refused. */
	badToken: {
		...REFUSED,
		message: 'The platform does not accept the API token',
		advice:
			'Copy API Token, and Second API Token if it is filled, again from your platform to the credential, without spaces. If this continues, ask the platform for the permission.',
	},
	notFound: {
		...REFUSED,
		message: 'The platform found nothing at this address',
		advice:
			'If every operation fails like this, check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
	},
	/** We assume that the platform processed nothing; the document does not say so (Errors 2). */
	rateLimited: {
		...REPEATABLE,
		outcome: 'refused',
		message: 'The platform is still limiting requests',
		advice: `Wait a while, then ${RUN_AGAIN}, or run fewer workflows of this account at the same time.`,
	},
	/** A proxy answered, which does not know what the platform did, or the request was cut off. */
	unavailable: { ...TRANSIENT, ...SERVER_ERROR },
	/**
	 * The platform may have charged before its fault, or a 409 may report an earlier charge (see response.ts). A read would
	 * fail again.
	 */
	unclear: { ...UNUSABLE, ...SERVER_ERROR },
	/** To follow the redirect would send the tokens to another host. */
	redirected: { ...REFUSED, ...REDIRECT },
	/** The platform may redirect after the charge. */
	seeOther: { ...UNUSABLE, ...REDIRECT },
	webPage: {
		...UNUSABLE,
		message: 'The platform answered with a web page instead of data',
		advice:
			'Check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
	},
	/** The request failed before its first byte. */
	notSent: {
		...REPEATABLE,
		outcome: 'notSent',
		message: 'The platform could not be reached',
		advice:
			'Check the host in Base URL of the credential, and that this n8n can reach it, through its proxy if it has one.',
	},
	blocked: {
		...REFUSED,
		outcome: 'notSent',
		message: 'n8n blocked the request to the host of the platform',
		advice:
			'Correct the host in Base URL of the credential, or ask the administrator of this n8n to allow it (N8N_SSRF_ALLOWED_HOSTNAMES).',
	},
	interrupted: {
		...TRANSIENT,
		message: 'The platform did not answer in time, or the connection broke',
		advice: TRY_LATER,
	},
} as const satisfies Record<string, Rule>;

export type AnswerKind = keyof typeof RETRY_TABLE;

/**
 * For most requests. `maxTotalMs` counts from the first try to the start of the last. It exceeds the longest Retry-After
 * by a second, so after that another try starts only if the 429 came at once.
 */
export const RETRY_LIMITS = { maxTries: 5, maxTotalMs: 301_000 };

const FIRST_BACKOFF_MS = 500;
const FIRST_RATE_LIMIT_WAIT_MS = 5_000;
/** Limits are per minute, so each minute gets a try. */
const LONGEST_RATE_LIMIT_WAIT_MS = 20_000;

/** With full jitter, so that executions that fail together do not retry together. */
export function backoffMs(failedTries: number, random: number): number {
	return Math.round(random * FIRST_BACKOFF_MS * 2 ** (failedTries - 1));
}

/** The platform may ask for a longer wait. Up to half is jitter. */
export function rateLimitWaitMs(hits: number, random: number): number {
	const cap = Math.min(LONGEST_RATE_LIMIT_WAIT_MS, FIRST_RATE_LIMIT_WAIT_MS * 2 ** (hits - 1));
	return Math.round((cap * (1 + random)) / 2);
}
