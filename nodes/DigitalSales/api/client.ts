import type {
	IDataObject,
	IExecuteFunctions,
	IHookFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IWebhookFunctions,
} from 'n8n-workflow';
import { findAnswer, readFault, responseHead } from '../n8n/httpHelper';
import { CanceledError, cancelableSleep, clock } from '../shared/clock';
import { type Account, CREDENTIAL_NAME } from './account';
import {
	DEFAULT_RETRY_LIMITS,
	type RetryLimits,
	backoffMs,
	mayRetry,
	rateLimitWaitMs,
} from './backoff';
import { ENDPOINTS, type Endpoint } from './endpoints';
import { type PermitOptions, TooLateError, rateLimiterFor } from './rateLimiter';
import { decodeBody, readBody, readResponse } from './response';
import { kindOfStatus, retryDecision } from './retryTable';
import { type Outcome, ServiceError, unansweredOutcome } from './serviceError';

export type ServiceContext =
	| IExecuteFunctions
	| ILoadOptionsFunctions
	| IWebhookFunctions
	| IHookFunctions;

export interface ServiceRequest {
	endpoint: Endpoint;
	path: string;
	query?: IDataObject;
	body?: IDataObject;
}

/**
 * Sends one try of a request. Undefined means that the service did not process it, and another try follows.
 *
 * @throws ServiceError if no other try follows
 */
export type Send<T> = () => Promise<T | undefined>;

export interface ClientOptions {
	retry?: Partial<RetryLimits>;
	/** For one try, including its whole answer. */
	timeoutMs?: number;
	productRate?: number;
	signal?: AbortSignal;
	/** Set if somebody waits for the answer. Such a request goes first, unless it has a share. */
	longestLimiterWaitMs?: number;
	share?: number;
	onWait?: (endpoint: Endpoint) => void;
}

const NOTABLE_WAIT_MS = 500;
/** A proxy may answer with these statuses without reaching the service. Only n8n's error shows the difference. */
const PROXY_STATUSES = [403, 407, 500, 502, 503, 504];
/** Added to the longest total time, because a 429 may ask for exactly that time and the try starts a moment later. */
const GRACE_MS = 500;

interface Progress {
	tries: number;
	/** Does not include tries that got a 429. */
	failedTries: number;
	rateLimitHits: number;
	firstSentAt: number;
	delayMs: number;
	outcome: Outcome;
}

/** Sends all requests to the service: paced by the account's rate limiter, repeated as the retry table allows. */
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
	 * Sends a request, with all its tries.
	 *
	 * @param read returns undefined for an undocumented shape
	 * @throws ServiceError
	 * @throws CanceledError if the execution is canceled between two tries
	 */
	async request<T>(request: ServiceRequest, read: (body: unknown) => T | undefined): Promise<T> {
		for await (const send of this.tries(request, read)) {
			const value = await send();
			if (value !== undefined) return value;
		}
		throw new CanceledError();
	}

	/** Yields each try of a request once it has a permit. */
	async *tries<T>(
		request: ServiceRequest,
		read: (body: unknown) => T | undefined,
	): AsyncGenerator<Send<T>, void> {
		const limiter = rateLimiterFor(this.account, request.endpoint);
		const progress: Progress = {
			...{ tries: 0, failedTries: 0, rateLimitHits: 0, firstSentAt: Infinity, delayMs: 0 },
			// Before the first try, a request can only fail in the limiter.
			outcome: unansweredOutcome('rateLimited'),
		};
		for (;;) {
			const options = this.permitOptions(request.endpoint, progress);
			const permit = await limiter.acquirePermit(options).catch((error: unknown) => {
				throw error instanceof TooLateError ? this.toError(request, progress) : error;
			});
			let isSent = false;
			try {
				yield async () => {
					isSent = true;
					const closedMs = await this.sendTry(request, progress);
					if (closedMs === undefined) limiter.releaseUsed(permit);
					else limiter.releaseLimited(permit, closedMs);
					const value = valueOf(progress.outcome, read);
					if (value === undefined && !this.planRetry(request.endpoint, progress)) {
						throw this.toError(request, progress);
					}
					return value;
				};
			} finally {
				if (!isSent) limiter.releaseUnused(permit);
			}
			await cancelableSleep(progress.delayMs, this.options.signal);
		}
	}

	private permitOptions(endpoint: Endpoint, { tries, firstSentAt }: Progress): PermitOptions {
		const { signal, productRate, longestLimiterWaitMs, share, onWait } = this.options;
		return {
			signal,
			isUrgent: longestLimiterWaitMs !== undefined && share === undefined,
			share,
			isRetry: tries > 0,
			rate: endpoint === 'GET /products' ? productRate : undefined,
			latest: Math.min(
				firstSentAt + this.retry.maxTotalMs + GRACE_MS,
				clock.elapsed() + (longestLimiterWaitMs ?? Infinity),
			),
			onWait: (delayMs) => {
				if (delayMs >= NOTABLE_WAIT_MS) onWait?.(endpoint);
			},
		};
	}

	/** @returns how long a 429 closes the limiter; undefined for any other answer */
	private async sendTry(request: ServiceRequest, progress: Progress): Promise<number | undefined> {
		progress.firstSentAt = Math.min(progress.firstSentAt, clock.elapsed());
		progress.outcome = await this.fetchOutcome(request);
		progress.tries++;
		const { kind, retryAfterMs = 0 } = progress.outcome;
		if (kind !== 'rateLimited') return undefined;
		return Math.max(retryAfterMs, rateLimitWaitMs(++progress.rateLimitHits, clock.random()));
	}

	private planRetry(endpoint: Endpoint, progress: Progress): boolean {
		const { kind, retryAfterMs = 0 } = progress.outcome;
		// After a 429 the next try waits in the limiter.
		progress.delayMs =
			kind === 'rateLimited'
				? 0
				: Math.max(retryAfterMs, backoffMs(++progress.failedTries, clock.random()));
		const elapsedMs = clock.elapsed() - progress.firstSentAt;
		const isRepeatable = retryDecision(ENDPOINTS[endpoint].method, kind) === 'retry';
		return isRepeatable && mayRetry(this.retry, { ...progress, elapsedMs });
	}

	private async fetchOutcome(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const late = AbortSignal.timeout(timeoutMs);
		// An answer that has begun proves that the service has the request.
		let hasHeaders = false;
		try {
			const { statusCode: status, headers, body } = await this.openResponse(request, timeoutMs);
			hasHeaders = true;
			const chunks = await readBody(body, late).catch((error: unknown) => {
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

	/** n8n's helper closes the connection if the execution is canceled. */
	private async openResponse(request: ServiceRequest, timeoutMs: number) {
		const { context, account } = this;
		const sending: Promise<unknown> = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL_NAME,
			this.httpOptions(request, timeoutMs),
			{
				// Without it, n8n would fetch and decrypt the credential for each request.
				credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_NAME, data: account.credential },
			},
		);
		return responseHead.parse(await sending.catch(findAnswer));
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

	private toError({ endpoint, body }: ServiceRequest, { outcome, tries }: Progress): Error {
		const { apiToken } = this.account.credential;
		const hasOtherToken = body?.api_token !== undefined && body.api_token !== apiToken;
		const error = new ServiceError(endpoint, outcome, tries, hasOtherToken);
		// `idempotency/` treats a canceled request as not processed, so a request in doubt must stay an error.
		const isCanceled = this.options.signal?.aborted === true;
		return isCanceled && !error.isInDoubt ? new CanceledError() : error;
	}
}

/** Undefined for a failure, and for a success that `read` does not accept or cannot read. */
function valueOf<T>(
	{ kind, body }: Outcome,
	read: (body: unknown) => T | undefined,
): T | undefined {
	try {
		return kind === 'success' ? read(body) : undefined;
	} catch {
		return undefined;
	}
}
