import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { type Account, CREDENTIAL_NAME } from './account';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { kindOfStatus, retryDecision } from './retryTable';
import { type Outcome, ServiceError, unansweredOutcome } from './serviceError';
import { readFault } from '../n8n/httpHelper';
import {
	type Permit,
	type RateLimiter,
	type PermitOptions,
	TooLateError,
	rateLimiterFor,
} from './rateLimiter';
import { readBody, readResponse, decodeBody } from './response';
import { answerIn, responseHead } from '../n8n/httpHelper';
import { CanceledError, clock, cancelableSleep } from '../shared/clock';

export type ServiceContext =
	| IExecuteFunctions
	| ILoadOptionsFunctions
	| IWebhookFunctions
	| IHookFunctions;

export interface ServiceRequest {
	endpoint: Endpoint;
	/** Below the base URL, its segments encoded. */
	path: string;
	query?: IDataObject;
	body?: IDataObject;
}

/**
 * Sends a try that the rate limit has let in. Undefined: the service did not process it, and another try
 * follows.
 *
 * @throws ServiceError if no other try follows
 */
export type Send<T> = () => Promise<T | undefined>;

export interface ClientOptions {
	retry?: Partial<RetryLimits>;
	/** How long one try may take, its whole answer included; the endpoint's own time by default. */
	timeoutMs?: number;
	/** Requests a minute to GET /products; the documented number by default. */
	productRate?: number;
	signal?: AbortSignal;
	/** How long each try may wait for the account's rate limit: a request that somebody waits for. */
	longestLimiterWaitMs?: number;
	/** Whether it takes its turn after a 429 all the same. */
	waitsAfter429?: boolean;
	/** Whether nobody waits for it after all. */
	isBackground?: boolean;
	onWait?: (endpoint: Endpoint) => void;
}

/** Shorter waits are not worth telling a person about. */
const NOTABLE_WAIT_MS = 500;
/**
 * What a proxy answers if it does not connect to an https host. Only n8n's error tells that from an
 * answer of the service; n8n versions that do not know the exception pass it on as one.
 */
const PROXY_STATUSES = [403, 407, 500, 502, 503, 504];
/** The only failure before the first try, of a request that waits only for so long for the rate limit. */
const NOT_ADMITTED = unansweredOutcome('rateLimited');
/** A 429 may ask for exactly the longest time, and that is over a moment later. */
const GRACE_MS = 500;

/**
 * The only place that talks to the service: paced by the account's rate limiter, with n8n's own
 * authentication, and repeated only as the retry table allows.
 */
export class Client {
	private readonly retry: RetryLimits;

	constructor(
		private readonly context: ServiceContext,
		readonly account: Account,
		private readonly options: ClientOptions,
	) {
		this.retry = { ...DEFAULT_RETRY_LIMITS, ...options.retry };
	}

	/**
	 * Sends a request and gives the JSON of the answer as `read` understood it.
	 *
	 * @param read gives undefined for a success of another shape than the documented one
	 * @throws ServiceError
	 * @throws CanceledError if the execution is canceled while nothing is under way
	 */
	async request<T>(request: ServiceRequest, read: (body: unknown) => T | undefined): Promise<T> {
		for await (const send of this.tries(request, read)) {
			const value = await send();
			if (value !== undefined) return value;
		}
		throw new CanceledError();
	}

	/**
	 * The tries of a request, each when the rate limit lets it in. A caller that leaves without sending one
	 * gives its permit back.
	 */
	async *tries<T>(
		request: ServiceRequest,
		read: (body: unknown) => T | undefined,
	): AsyncGenerator<Send<T>, void> {
		const { endpoint } = request;
		const counts = { tries: 0, failed: 0, limited: 0 };
		let outcome = NOT_ADMITTED;
		let firstSentAt = Infinity;
		for (;;) {
			const latest = firstSentAt + this.retry.maxTotalMs + GRACE_MS;
			// Whether the time for its tries is running.
			const isBack = counts.tries > 0;
			const options = { ...this.permitOptions(endpoint, latest), isBack };
			const limiter = rateLimiterFor(this.account, endpoint);
			const permit = await limiter.acquirePermit(options).catch((error: unknown) => {
				if (error instanceof TooLateError) throw this.toError(request, outcome, counts.tries);
				throw error;
			});
			let isSent = false;
			let delayMs = 0;
			try {
				yield async () => {
					isSent = true;
					firstSentAt = Math.min(firstSentAt, clock.elapsed());
					outcome = await this.sendOnce(request);
					counts.tries++;
					const { kind, retryAfterMs = 0 } = outcome;
					const isLimited = kind === 'rateLimited';
					settle(limiter, permit, outcome, rateLimitWaitMs(counts.limited + 1, clock.random()));
					const value = kind === 'success' ? readSafely(outcome.body, read) : undefined;
					if (value !== undefined) return value;
					counts[isLimited ? 'limited' : 'failed']++;
					// A 429 has closed the limiter for all executions; the next try waits there.
					delayMs = isLimited
						? 0
						: Math.max(retryAfterMs, backoffMs(counts.failed, clock.random()));
					const elapsedMs = clock.elapsed() - firstSentAt;
					const used = { failedTries: counts.failed, elapsedMs, delayMs };
					const isRetried = retryDecision(ENDPOINTS[endpoint].method, kind) === 'retry';
					if (isRetried && mayRetry(this.retry, used)) return undefined;
					throw this.toError(request, outcome, counts.tries);
				};
			} finally {
				if (!isSent) limiter.releaseUnused(permit);
			}
			await cancelableSleep(delayMs, this.options.signal);
		}
	}

	private permitOptions(endpoint: Endpoint, latest: number): PermitOptions {
		const {
			signal,
			productRate,
			longestLimiterWaitMs,
			waitsAfter429: yields,
			isBackground,
		} = this.options;
		const { onWait: tell } = this.options;
		return {
			signal,
			isUrgent: longestLimiterWaitMs !== undefined && !yields && !isBackground,
			isBackground,
			rate: endpoint === 'GET /products' ? productRate : undefined,
			latest: Math.min(latest, clock.elapsed() + (longestLimiterWaitMs ?? Infinity)),
			onWait: (delayMs) => {
				if (delayMs >= NOTABLE_WAIT_MS) tell?.(endpoint);
			},
		};
	}

	private async sendOnce(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const late = AbortSignal.timeout(timeoutMs);
		// An answer that has begun proves that the service has the request.
		let hasHeaders = false;
		try {
			const { statusCode: status, headers, body } = await this.openResponse(request, timeoutMs);
			hasHeaders = true;
			const chunks = await readBody(body, late).catch((error: unknown) => {
				// The status line alone makes it a 429.
				if (kindOfStatus(status) === 'rateLimited') return [];
				throw error;
			});
			const text = chunks && decodeBody(chunks);
			return readResponse({ status, headers, text }, this.account.redact);
		} catch (error) {
			const fault = readFault(error);
			return unansweredOutcome(hasHeaders ? 'interrupted' : fault.kind, fault.code);
		}
	}

	/** Canceling the execution ends it: n8n's helper hangs up, so the outcome is unknown. */
	private async openResponse(request: ServiceRequest, timeoutMs: number) {
		const { context, account } = this;
		const sending: Promise<unknown> = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL_NAME,
			this.httpOptions(request, timeoutMs),
			{
				// Read once for the whole execution: n8n would fetch and decrypt it for each request.
				credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_NAME, data: account.credential },
			},
		);
		return responseHead.parse(await sending.catch(answerIn));
	}

	private httpOptions(
		{ endpoint, path, query, body }: ServiceRequest,
		timeout: number,
	): IHttpRequestOptions {
		return {
			method: ENDPOINTS[endpoint].method,
			url: this.account.baseUrl + path,
			qs: query,
			headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
			...(body && { body: JSON.stringify(body) }),
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: { ignore: true, except: PROXY_STATUSES },
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
			timeout,
			allowedDomains: this.account.allowedDomains,
		};
	}

	private toError({ endpoint, body }: ServiceRequest, outcome: Outcome, tries: number): Error {
		const { api_token: token = this.account.credential.apiToken } = body ?? {};
		const hasOtherToken = token !== this.account.credential.apiToken;
		const error = new ServiceError(endpoint, outcome, tries, hasOtherToken);
		// `idempotency/` takes a cancellation for not processed, so a doubt is never reported as one.
		const isCanceled = this.options.signal?.aborted === true;
		return isCanceled && !error.isInDoubt ? new CanceledError() : error;
	}
}

/** @param leastMs how long a 429 closes the limiter at least */
function settle(
	limiter: RateLimiter,
	permit: Permit,
	{ kind, retryAfterMs = 0 }: Outcome,
	leastMs: number,
): void {
	if (kind === 'rateLimited') {
		limiter.releaseLimited(permit, Math.max(retryAfterMs, leastMs));
	} else {
		limiter.releaseUsed(permit);
	}
}

/** A reader that fails says as much as one that does not know the shape. */
function readSafely<T>(body: unknown, read: (body: unknown) => T | undefined): T | undefined {
	try {
		return read(body);
	} catch {
		return undefined;
	}
}

export interface RetryLimits {
	/** Tries in all, the first included. A 429 does not count: it is waited out until the time is up. */
	maxTries: number;
	/** No new try starts later than this after the first one. */
	maxTotalMs: number;
}

/** @internal */
export const DEFAULT_RETRY_LIMITS: Readonly<RetryLimits> = { maxTries: 5, maxTotalMs: 300_000 };

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/** @internal With full jitter: executions that failed together do not come back together. */
export function backoffMs(failedTries: number, random: number): number {
	const cap = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failedTries - 1));
	return Math.round(random * cap);
}

const FIRST_RATE_LIMIT_WAIT_MS = 5_000;
/** Short enough to miss none of the minutes over which limits are counted. */
const LONGEST_RATE_LIMIT_WAIT_MS = 20_000;

/** @internal How long to wait at least after so many 429s, whatever they say; the upper half is random. */
export function rateLimitWaitMs(hits: number, random: number): number {
	const cap = Math.min(LONGEST_RATE_LIMIT_WAIT_MS, FIRST_RATE_LIMIT_WAIT_MS * 2 ** (hits - 1));
	return Math.round((cap * (1 + random)) / 2);
}

/** @internal */
export function mayRetry(
	limits: RetryLimits,
	used: { failedTries: number; elapsedMs: number; delayMs: number },
): boolean {
	return used.failedTries < limits.maxTries && used.elapsedMs + used.delayMs <= limits.maxTotalMs;
}
