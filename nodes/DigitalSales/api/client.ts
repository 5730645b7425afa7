import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { CREDENTIAL_NAME, type Account } from './account';
import { readAnswer, responseHead, type Answer } from './answer';
import { readBody, takeText } from './body';
import { rateLimiterFor } from './budget';
import { CanceledError, clock, wait } from './clock';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { readFault } from './fault';
import { readLimitHeaders, retryAfterMs } from './limitHeaders';
import type { Rate } from './rateLimiter';
import {
	backoffMs,
	DEFAULT_RETRY_LIMITS,
	mayRetry,
	situationOfFault,
	rateLimitWaitMs,
	verdict,
	type Fault,
	type RetryLimits,
	type Situation,
} from './retryPolicy';
import { ServiceError } from './serviceError';

export type ServiceContext =
	| IExecuteFunctions
	| ILoadOptionsFunctions
	| IWebhookFunctions
	| IHookFunctions;

export interface ServiceRequest {
	endpoint: Endpoint;
	/** Below the base URL, its segments already encoded. */
	path: string;
	query?: IDataObject;
	body?: IDataObject;
}

export interface ClientOptions {
	retry?: Partial<RetryLimits>;
	/**
	 * The longest time one try may take, its whole answer included, in whole milliseconds; the
	 * endpoint's own where left out.
	 */
	timeoutMs?: number;
	/** The rate of GET /products, where the user has set another than the documented one. */
	productRate?: Rate;
	/** Cancels waiting at once. */
	signal?: AbortSignal;
	/** How long a request may wait for the account's rate limit; without end where left out. */
	longestLimiterWaitMs?: number;
	/** Told before the rate limit makes a request wait. */
	onWait?: (endpoint: Endpoint) => void;
}

interface Outcome {
	situation: Situation;
	answer?: Answer;
	fault?: Fault;
	/** How long a 429 closes the limiter, and whether the service said how long. */
	closed?: { forMs: number; isStated: boolean };
}

/** Shorter waits are not worth telling a person about. */
const NOTABLE_WAIT_MS = 500;

/**
 * The only place that talks to the service. A request is paced by the account's rate limiter, sent with
 * n8n's own authentication, and repeated only as the retry table allows.
 */
export class Client {
	private readonly limits: RetryLimits;

	constructor(
		private readonly context: ServiceContext,
		readonly account: Account,
		private readonly options: ClientOptions,
	) {
		this.limits = { ...DEFAULT_RETRY_LIMITS, ...options.retry };
	}

	/**
	 * Sends a request and gives the JSON of the answer as `read` understood it.
	 *
	 * @param read checks the shape of a success; undefined says that it is not the documented one
	 * @throws ServiceError for everything that is not a success
	 * @throws CanceledError when the execution is cancelled while nothing is under way
	 */
	async request<T>(request: ServiceRequest, read: (body: unknown) => T | undefined): Promise<T> {
		const { method } = ENDPOINTS[request.endpoint];
		const counts = { tries: 0, failed: 0, limited: 0 };
		let firstSentAt: number | undefined;
		for (;;) {
			const outcome = await this.sendWithinLimit(request, counts.limited + 1);
			firstSentAt ??= clock.elapsed();
			counts.tries++;
			if (outcome.situation === 'success') {
				const value = understood(outcome.answer?.body, read);
				if (value !== undefined) return value;
				outcome.situation = 'unreadable';
			}
			if (outcome.situation === 'rateLimited') counts.limited++;
			if (!outcome.closed?.isStated) counts.failed++;
			const decision = verdict(method, outcome.situation);
			const delayMs = outcome.closed?.forMs ?? this.backoff(outcome, counts.failed);
			const elapsedMs = clock.elapsed() - firstSentAt;
			if (
				decision !== 'retry' ||
				!mayRetry(this.limits, { failedTries: counts.failed, elapsedMs, delayMs })
			) {
				throw this.failure(request.endpoint, outcome, counts.tries);
			}
			// A 429 has closed the limiter for all executions; the next turn waits there.
			if (!outcome.closed) await wait(delayMs, this.options.signal);
		}
	}

	private backoff(outcome: Outcome, failedTries: number): number {
		const asked = outcome.answer ? retryAfterMs(outcome.answer.headers) : undefined;
		return Math.max(asked ?? 0, backoffMs(failedTries, clock.random()));
	}

	private async sendWithinLimit(request: ServiceRequest, rateLimitHits: number): Promise<Outcome> {
		const { onWait: tell, productRate } = this.options;
		const rate = request.endpoint === 'GET /products' ? productRate : undefined;
		const limiter = rateLimiterFor(this.account, request.endpoint);
		const onWait = (delayMs: number): void => {
			if (delayMs >= NOTABLE_WAIT_MS) tell?.(request.endpoint);
		};
		// Queued callers get no onWait, so report now.
		onWait(limiter.delayMs(rate));
		const permit = await limiter.take({ rate, signal: this.limiterSignal(), onWait });
		const outcome = await this.send(request);
		const headers = outcome.answer?.headers ?? {};
		if (outcome.situation === 'rateLimited') {
			const statedMs = retryAfterMs(headers);
			const leastMs = rateLimitWaitMs(rateLimitHits, clock.random());
			const forMs = Math.max(statedMs ?? 0, leastMs);
			outcome.closed = { forMs, isStated: statedMs !== undefined };
			limiter.settleLimited(permit, readLimitHeaders(headers), forMs);
		} else {
			limiter.settle(permit, readLimitHeaders(headers));
		}
		return outcome;
	}

	private limiterSignal(): AbortSignal | undefined {
		const { signal, longestLimiterWaitMs } = this.options;
		if (longestLimiterWaitMs === undefined) return signal;
		const late = AbortSignal.timeout(longestLimiterWaitMs);
		return signal ? AbortSignal.any([signal, late]) : late;
	}

	private async send(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const late = AbortSignal.timeout(timeoutMs);
		let situationOf = situationOfFault;
		try {
			const { statusCode, headers, body } = await this.begin(request, timeoutMs);
			// From here on the service has the request, whatever becomes of its answer.
			situationOf = () => 'interrupted';
			const chunks = await readBody(body, late);
			const text = chunks && takeText(chunks);
			const answer = readAnswer({ status: statusCode, headers, text }, this.account.redact);
			return { situation: answer.situation, answer };
		} catch (error) {
			const fault = readFault(error);
			return { situation: situationOf(fault), fault };
		}
	}

	/** Sends a request and gives the answer as soon as its headers are there. */
	private async begin(request: ServiceRequest, timeoutMs: number) {
		const { context, account } = this;
		const response: unknown = await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL_NAME,
			this.httpOptions(request, timeoutMs),
			{
				// Read once for the whole execution: n8n would fetch and decrypt it for each request.
				credentialsDecrypted: {
					id: '',
					name: '',
					type: CREDENTIAL_NAME,
					data: account.credential,
				},
			},
		);
		return responseHead.parse(response);
	}

	private httpOptions(request: ServiceRequest, timeout: number): IHttpRequestOptions {
		const { method } = ENDPOINTS[request.endpoint];
		return {
			method,
			url: this.account.baseUrl + request.path,
			qs: request.query,
			headers: {
				Accept: 'application/json',
				...(request.body ? { 'Content-Type': 'application/json' } : {}),
			},
			...(request.body ? { body: JSON.stringify(request.body) } : {}),
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
			timeout,
			allowedDomains: this.account.allowedDomains,
		};
	}

	private failure(endpoint: Endpoint, outcome: Outcome, tries: number): Error {
		const outcomeUnknown =
			verdict(ENDPOINTS[endpoint].method, outcome.situation) === 'unknownOutcome';
		if (this.options.signal?.aborted && !outcomeUnknown) return new CanceledError();
		const { answer, fault } = outcome;
		return new ServiceError({
			endpoint,
			situation: outcome.situation,
			outcomeUnknown,
			status: answer?.status,
			code: fault?.code,
			unreadable:
				answer?.unreadable ?? (outcome.situation === 'unreadable' ? 'otherShape' : undefined),
			redirectedTo: answer?.redirectedTo,
			words: answer?.words ?? { messages: [], fields: {} },
			tries,
		});
	}
}

/** A reader that fails says as much of an answer as one that does not know its shape. */
function understood<T>(body: unknown, read: (body: unknown) => T | undefined): T | undefined {
	try {
		return read(body);
	} catch {
		return undefined;
	}
}
