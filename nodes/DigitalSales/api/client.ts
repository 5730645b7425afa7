import type { IAllExecuteFunctions, IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { readFault, responseHead, takeAnswer } from '../n8n';
import { cancelableSleep, CanceledError, clock } from '../shared';
import { type Account, CREDENTIAL_NAME } from './account';
import { ENDPOINTS, type Endpoint } from './endpoints';
import {
	type Permit,
	type PermitOptions,
	type RateLimiter,
	TooLateError,
	rateLimiterFor,
} from './rateLimiter';
import { kindOfStatus, readBody, readResponse, readValue } from './response';
import {
	backoffMs,
	DEFAULT_RETRY_LIMITS,
	mayRetry,
	rateLimitWaitMs,
	retryDecision,
	type RetryLimits,
} from './retryTable';
import { type Outcome, ServiceError } from './serviceError';

interface ServiceRequest {
	endpoint: Endpoint;
	path: string;
	query?: IDataObject;
	body?: IDataObject;
}

/**
 * @returns undefined if another try follows, which for a POST means that the platform did not process this try
 * @throws ServiceError if no other try follows
 */
export type Send<T> = () => Promise<T | undefined>;

/** `signal` cancels what waits and what is not in doubt. */
export interface ClientOptions extends Pick<PermitOptions, 'signal' | 'isUrgent' | 'share'> {
	/** By default five tries within five minutes. */
	retry?: Partial<RetryLimits>;
	/** For one try, by default that of its endpoint. */
	timeoutMs?: number;
	/** For the permit of one try. By default the first try waits without limit, a retry as long as `retry` allows. */
	longestLimiterWaitMs?: number;
	/** Called when a try waits for its permit, by default nothing is. */
	onWait?: (endpoint: Endpoint) => void;
}

const NOTABLE_WAIT_MS = 500;
/** For these, n8n's helper has to throw: only its error shows that a proxy did not reach the platform. */
const PROXY_STATUSES = [403, 407, 500, 502, 503, 504];
/** The longest Retry-After equals the default `maxTotalMs`, but counts from the answer. */
const GRACE_MS = 500;

interface Progress {
	readonly request: ServiceRequest;
	tries: number;
	rateLimitHits: number;
	firstSentAt: number;
	delayMs: number;
	outcome: Outcome;
}

/** Sends requests when the rate limiter permits, and repeats them as the retry table allows. */
export class Client {
	private readonly retry: RetryLimits;

	constructor(
		private readonly context: IAllExecuteFunctions,
		readonly account: Account,
		private readonly options: ClientOptions,
	) {
		this.retry = { ...DEFAULT_RETRY_LIMITS, ...options.retry };
	}

	/**
	 * @param read returns undefined for an undocumented shape
	 * @throws ServiceError
	 * @throws CanceledError unless the request is in doubt
	 */
	async request<T>(request: ServiceRequest, read: (body: unknown) => T | undefined): Promise<T> {
		for await (const send of this.tries(request, read)) {
			const value = await send();
			if (value !== undefined) return value;
		}
		// Not reached: the last try throws.
		throw new CanceledError();
	}

	/** Yields each try once the try has a permit. The caller stops at the first value. An error ends the tries. */
	async *tries<T>(
		request: ServiceRequest,
		read: (body: unknown) => T | undefined,
	): AsyncGenerator<Send<T>, void> {
		const limiter = rateLimiterFor(this.account, request.endpoint);
		const progress: Progress = {
			request,
			tries: 0,
			rateLimitHits: 0,
			firstSentAt: Infinity,
			delayMs: 0,
			// Before the first try, a request can only fail in the limiter.
			outcome: { kind: 'rateLimited' },
		};

		for (;;) {
			const options = this.permitOptions(progress);
			const permit = await limiter.acquirePermit(options).catch((error: unknown) => {
				if (error instanceof TooLateError) throw this.toError(progress);
				throw error;
			});

			let isSent = false;
			try {
				yield async () => {
					isSent = true;
					const value = await this.sendTry(progress, read, limiter, permit);
					if (value === undefined && !this.planRetry(progress)) throw this.toError(progress);
					return value;
				};
			} finally {
				if (!isSent) limiter.release(permit);
			}

			await cancelableSleep(progress.delayMs, this.options.signal);
		}
	}

	private permitOptions({ request, tries, firstSentAt }: Progress): PermitOptions {
		const { longestLimiterWaitMs = Infinity, onWait } = this.options;
		const lastStart = firstSentAt + this.retry.maxTotalMs + GRACE_MS;

		return {
			...this.options,
			isRetry: tries > 0,
			latest: Math.min(lastStart, clock.elapsed() + longestLimiterWaitMs),
			onWait: (delayMs) => {
				if (delayMs >= NOTABLE_WAIT_MS) onWait?.(request.endpoint);
			},
		};
	}

	private async sendTry<T>(
		progress: Progress,
		read: (body: unknown) => T | undefined,
		limiter: RateLimiter,
		permit: Permit,
	): Promise<T | undefined> {
		progress.firstSentAt = Math.min(progress.firstSentAt, clock.elapsed());
		const outcome = await this.fetchOutcome(progress.request);
		progress.outcome = outcome;
		progress.tries++;

		if (outcome.kind === 'rateLimited') {
			const waitMs = rateLimitWaitMs(++progress.rateLimitHits, clock.random());
			limiter.releaseLimited(permit, Math.max(outcome.retryAfterMs ?? 0, waitMs));
		} else {
			limiter.releaseUsed(permit);
		}

		return readValue(outcome, read);
	}

	/** @returns false if no other try follows */
	private planRetry(progress: Progress): boolean {
		const { kind, retryAfterMs = 0 } = progress.outcome;
		const { method } = ENDPOINTS[progress.request.endpoint];
		if (retryDecision(method, kind) !== 'retry') return false;

		const failedTries = progress.tries - progress.rateLimitHits;
		const elapsedMs = clock.elapsed() - progress.firstSentAt;
		progress.delayMs = Math.max(retryAfterMs, backoffMs(failedTries, clock.random()));
		// After a 429 the next try waits in the limiter.
		if (kind === 'rateLimited') progress.delayMs = 0;

		return mayRetry(this.retry, { failedTries, elapsedMs, delayMs: progress.delayMs });
	}

	private async fetchOutcome(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const deadline = AbortSignal.timeout(timeoutMs);
		// Once an answer begins, the platform has the request.
		let hasHeaders = false;

		try {
			const { statusCode, headers, body } = await this.openResponse(request, timeoutMs);
			hasHeaders = true;

			const text = await readBody(body, deadline).catch((error: unknown) => {
				if (kindOfStatus(statusCode) === 'rateLimited') return '';
				throw error;
			});
			return readResponse({ status: statusCode, headers, text }, this.account.redact);
		} catch (error) {
			const fault = readFault(error);
			if (hasHeaders) fault.kind = 'interrupted';
			return fault;
		}
	}

	/** n8n's helper closes the connection if the execution is canceled. */
	private async openResponse({ endpoint, path, query, body }: ServiceRequest, timeout: number) {
		const { baseUrl, allowedDomains, credential } = this.account;

		const options: IHttpRequestOptions = {
			method: ENDPOINTS[endpoint].method,
			url: baseUrl + path,
			qs: query,
			headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
			body: body && JSON.stringify(body),
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: { ignore: true, except: PROXY_STATUSES },
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
			timeout,
			allowedDomains,
		};

		const sending: Promise<unknown> = this.context.helpers.httpRequestWithAuthentication.call(
			this.context,
			CREDENTIAL_NAME,
			options,
			// Otherwise n8n would decrypt the credential for each request.
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_NAME, data: credential } },
		);
		return responseHead.parse(await sending.catch(takeAnswer));
	}

	private toError({ request, outcome, tries }: Progress): Error {
		const { endpoint, body } = request;
		const { apiToken } = this.account.credential;
		const hasTwoTokens = body?.api_token !== undefined && body.api_token !== apiToken;
		const error = new ServiceError(endpoint, outcome, tries, hasTwoTokens);

		// `idempotency/` counts a canceled request as not processed, so a request in doubt stays an error.
		if (this.options.signal?.aborted && !error.isInDoubt) return new CanceledError();
		return error;
	}
}
