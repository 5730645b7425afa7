import type { IAllExecuteFunctions, IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { readFault, responseHead, takeAnswer } from '../n8n';
import { CanceledError, clock, unlessCanceled } from '../shared';
import { type Account, CREDENTIAL_NAME } from './account';
import { type Endpoint, ENDPOINTS, REQUESTS_PER_MINUTE } from './endpoints';
import { findRateLimiter, type PermitOptions, type RateLimiter } from './rateLimiter';
import { readBody, parseResponse } from './response';
import { backoffMs, RETRY_LIMITS, RETRY_TABLE, rateLimitWaitMs } from './retryTable';
import { type Answer, ServiceError } from './serviceError';

interface ServiceRequest<T> {
	endpoint: Endpoint;
	path: string;
	query?: IDataObject;
	body?: IDataObject;
	/** Gets the body of a 2xx. Returns undefined for an undocumented shape. */
	parse: (body: unknown) => T | undefined;
}

/**
 * @returns undefined if another try follows, which for a POST means that the platform did not process this try
 * @throws ServiceError if no other try follows
 */
export type Send<T> = () => Promise<T | undefined>;

/** An aborted `signal` ends a request that waits, or that fails without doubt. By default nothing does. */
export interface ClientOptions extends Pick<PermitOptions, 'signal' | 'priority'> {
	/** A try that gets a 429 does not count. By default 5. */
	maxTries?: number;
	/** The last try starts within this time, and within five minutes of the first try. By default only the latter. */
	startWithinMs?: number;
	/** For one try, by default that of its endpoint. */
	timeoutMs?: number;
	/** Called if a permit has taken half a second or more, by default nothing is. */
	onWait?: (endpoint: Endpoint) => void;
}

const NOTABLE_WAIT_MS = 500;
/** For these, n8n's helper has to throw: only its error shows that a proxy did not reach the platform. */
const PROXY_STATUSES = [403, 407, 500, 502, 503, 504];

interface Progress {
	tries: number;
	rateLimitHits: number;
	/** After this moment no try starts, on `clock.elapsed()`. */
	startBy: number;
	answer: Answer;
}

/** Sends requests when the rate limiter permits, and repeats them as the retry table allows. */
export class Client {
	constructor(
		private readonly context: IAllExecuteFunctions,
		readonly account: Account,
		private readonly options: ClientOptions,
	) {}

	/**
	 * @throws ServiceError
	 * @throws CanceledError unless the request is in doubt
	 */
	async request<T>(request: ServiceRequest<T>): Promise<T> {
		for await (const send of this.tries(request)) {
			const value = await send();
			if (value !== undefined) return value;
		}
		throw new Error('Not reached, because the last try throws');
	}

	/**
	 * Yields each try once the try has a permit. The caller sends it, or stops and so gives the permit back. It also stops
	 * at the first value.
	 *
	 * @throws ServiceError, CanceledError if no other try follows
	 */
	async *tries<T>(request: ServiceRequest<T>): AsyncGenerator<Send<T>, void> {
		const { endpoint } = request;
		const { signal, priority, startWithinMs = Infinity, onWait } = this.options;
		const rate = REQUESTS_PER_MINUTE[endpoint];
		const limiter = findRateLimiter(`${this.account.key} ${endpoint}`, rate);
		const progress: Progress = {
			tries: 0,
			rateLimitHits: 0,
			startBy: clock.elapsed() + startWithinMs,
			// Without a first try, the user reads the same as after a 429: the limiter gave no permit in time.
			answer: { kind: 'rateLimited' },
		};

		for (;;) {
			const askedAt = clock.elapsed();
			const permit = { signal, priority, latest: progress.startBy };
			const hasPermit = await limiter.acquirePermit(permit);
			if (!hasPermit) throw this.toError(request, progress);
			if (clock.elapsed() >= askedAt + NOTABLE_WAIT_MS) onWait?.(endpoint);

			let isSent = false;
			let delayMs = 0;
			try {
				yield async () => {
					isSent = true;
					const value = await this.sendTry(limiter, request, progress);
					if (value === undefined) delayMs = this.delayBeforeRetry(request, progress);
					return value;
				};
			} finally {
				if (!isSent) limiter.release();
			}

			if (delayMs > 0) await unlessCanceled(clock.sleep(delayMs), signal);
		}
	}

	private async sendTry<T>(
		limiter: RateLimiter,
		request: ServiceRequest<T>,
		progress: Progress,
	): Promise<T | undefined> {
		// Later tries do not move it.
		progress.startBy = Math.min(progress.startBy, clock.elapsed() + RETRY_LIMITS.maxTotalMs);
		const { answer, value } = await this.fetchAnswer(request);
		progress.answer = answer;
		progress.tries++;

		if (answer.kind === 'rateLimited') {
			const waitMs = rateLimitWaitMs(++progress.rateLimitHits, clock.random());
			limiter.releaseLimited(Math.max(answer.retryAfterMs ?? 0, waitMs));
		} else {
			limiter.releaseUsed();
		}

		return value;
	}

	/** @throws ServiceError, CanceledError if no other try follows */
	private delayBeforeRetry(request: ServiceRequest<unknown>, progress: Progress): number {
		const { maxTries = RETRY_LIMITS.maxTries } = this.options;
		const { tries, rateLimitHits, startBy, answer } = progress;
		const { kind, retryAfterMs = 0 } = answer;
		const failedTries = tries - rateLimitHits;

		let delayMs = Math.max(retryAfterMs, backoffMs(failedTries, clock.random()));
		// After a 429 the next try waits in the limiter.
		if (kind === 'rateLimited') delayMs = 0;

		const isRepeatable = RETRY_TABLE[kind][ENDPOINTS[request.endpoint].method] === 'retry';
		const isInTime = clock.elapsed() + delayMs <= startBy;
		if (isRepeatable && isInTime && failedTries < maxTries) return delayMs;
		throw this.toError(request, progress);
	}

	private async fetchAnswer<T>(request: ServiceRequest<T>): Promise<{ answer: Answer; value?: T }> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const deadline = AbortSignal.timeout(timeoutMs);
		// Once an answer begins, the platform has the request.
		let hasHeaders = false;

		try {
			const response = await this.openResponse(request, timeoutMs);
			hasHeaders = true;

			const { headers } = response;
			const status = response.statusCode;
			const text = await readBody(response.body, deadline).catch((error: unknown) => {
				// The status says enough.
				if (status === 429) return undefined;
				throw error;
			});
			const { body, ...answer } = parseResponse({ status, headers, text }, this.account.redact);
			if (answer.kind !== 'success') return { answer };
			return { answer, value: request.parse(body) };
		} catch (error) {
			const answer = readFault(error);
			if (hasHeaders) answer.kind = 'interrupted';
			return { answer };
		}
	}

	/** n8n's helper closes the connection if the execution is canceled. */
	private async openResponse(request: ServiceRequest<unknown>, timeout: number) {
		const { endpoint, path, query, body } = request;
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

	private toError({ endpoint }: ServiceRequest<unknown>, { answer, tries }: Progress): Error {
		const error = new ServiceError(endpoint, answer, tries);
		// `idempotency/` counts a canceled request as not processed, so a request in doubt stays an error.
		if (this.options.signal?.aborted && !error.isInDoubt) return new CanceledError();
		return error;
	}
}
