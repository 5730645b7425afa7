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
import { CanceledError, clock, wait } from '../shared/clock';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { readFault } from './fault';
import { readLimitHeaders, retryAfterMs } from './limitHeaders';
import {
	TooLateError,
	type Permit,
	type Rate,
	type RateLimiter,
	type TakeOptions,
} from './rateLimiter';
import {
	backoffMs,
	DEFAULT_RETRY_LIMITS,
	mayRetry,
	situationOfFault,
	rateLimitWaitMs,
	situationOfStatus,
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
	/** How long each try may wait for the account's rate limit; without end where left out. */
	longestLimiterWaitMs?: number;
	/** Told before the rate limit makes a request wait. */
	onWait?: (endpoint: Endpoint) => void;
}

interface Outcome {
	situation: Situation;
	answer?: Answer;
	fault?: Fault;
}

/** Shorter waits are not worth telling a person about. */
const NOTABLE_WAIT_MS = 500;
/** A wait of exactly the longest time is over a moment after it, since the 429 that asked took one. */
const GRACE_MS = 500;

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
		const { endpoint } = request;
		const { method } = ENDPOINTS[endpoint];
		const limiter = rateLimiterFor(this.account, endpoint);
		const counts = { tries: 0, failed: 0, limited: 0 };
		// Until it has been sent, only the rate limit can be in its way.
		let outcome: Outcome = { situation: 'rateLimited' };
		let firstSentAt = Infinity;
		for (;;) {
			const latest = firstSentAt + this.limits.maxTotalMs + GRACE_MS;
			const permit = await limiter
				.take(this.takeOptions(endpoint, latest))
				.catch((error: unknown) => {
					if (error instanceof TooLateError) throw this.failure(endpoint, outcome, counts.tries);
					throw error;
				});
			firstSentAt = Math.min(firstSentAt, permit.takenAt);
			outcome = await this.send(request);
			settle(limiter, permit, outcome, counts.limited + 1);
			counts.tries++;
			if (outcome.situation === 'success') {
				const value = understood(outcome.answer?.body, read);
				if (value !== undefined) return value;
				outcome.situation = 'unreadable';
			}
			const isLimited = outcome.situation === 'rateLimited';
			const askedMs = retryAfterMs(outcome.answer?.headers ?? {});
			if (isLimited) counts.limited++;
			if (!isLimited || askedMs === undefined) counts.failed++;
			const decision = verdict(method, outcome.situation);
			// A 429 has closed the limiter for all executions; the next turn waits there.
			const delayMs = isLimited
				? 0
				: Math.max(askedMs ?? 0, backoffMs(counts.failed, clock.random()));
			const elapsedMs = clock.elapsed() - firstSentAt;
			if (
				decision !== 'retry' ||
				!mayRetry(this.limits, { failedTries: counts.failed, elapsedMs, delayMs })
			) {
				throw this.failure(endpoint, outcome, counts.tries);
			}
			await wait(delayMs, this.options.signal);
		}
	}

	private takeOptions(endpoint: Endpoint, latest: number): TakeOptions {
		const { signal, productRate, longestLimiterWaitMs = Infinity, onWait: tell } = this.options;
		return {
			signal,
			rate: endpoint === 'GET /products' ? productRate : undefined,
			latest: Math.min(latest, clock.elapsed() + longestLimiterWaitMs),
			onWait: (delayMs) => {
				if (delayMs >= NOTABLE_WAIT_MS) tell?.(endpoint);
			},
		};
	}

	private async send(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const late = AbortSignal.timeout(timeoutMs);
		let situationOf = situationOfFault;
		try {
			const { statusCode, headers, body } = await this.begin(request, timeoutMs);
			// From here on the service has the request, whatever becomes of its answer.
			situationOf = () => 'interrupted';
			const text = await readText(body, late).catch((error: unknown) => {
				// A 429 is one by its status line, whatever becomes of its body.
				if (situationOfStatus(statusCode) === 'rateLimited') return '';
				throw error;
			});
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

/** Gives a permit back with what came of its request. */
function settle(
	limiter: RateLimiter,
	permit: Permit,
	{ answer, situation }: Outcome,
	rateLimitHits: number,
): void {
	if (answer && situation === 'rateLimited') {
		const leastMs = rateLimitWaitMs(rateLimitHits, clock.random());
		const closedMs = Math.max(retryAfterMs(answer.headers) ?? 0, leastMs);
		limiter.settleLimited(permit, readLimitHeaders(answer.headers), closedMs);
	} else {
		// 502, 503 and 504 are answers of a proxy, which say nothing of the limit.
		const own = situation === 'unavailable' ? undefined : answer;
		limiter.settle(permit, own && readLimitHeaders(own.headers));
	}
}

async function readText(...from: Parameters<typeof readBody>): Promise<string | undefined> {
	const chunks = await readBody(...from);
	return chunks && takeText(chunks);
}

/** A reader that fails says as much of an answer as one that does not know its shape. */
function understood<T>(body: unknown, read: (body: unknown) => T | undefined): T | undefined {
	try {
		return read(body);
	} catch {
		return undefined;
	}
}
