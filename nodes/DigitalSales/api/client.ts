import type { IAllExecuteFunctions, IDataObject, IHttpRequestOptions } from 'n8n-workflow';
import { takeAnswer, readFault, responseHead } from '../n8n/httpHelper';
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
import {
	type Permit,
	type PermitOptions,
	type RateLimiter,
	TooLateError,
	rateLimiterFor,
} from './rateLimiter';
import { decodeBody, readBody, readResponse } from './response';
import { kindOfStatus, retryDecision } from './retryTable';
import { type Outcome, ServiceError, unansweredOutcome } from './serviceError';

interface ServiceRequest {
	endpoint: Endpoint;
	path: string;
	query?: IDataObject;
	body?: IDataObject;
}

/**
 * @returns undefined if another try follows, which for a POST means that the service did not process this try
 * @throws ServiceError if no other try follows
 */
export type Send<T> = () => Promise<T | undefined>;

export interface ClientOptions {
	retry?: Partial<RetryLimits>;
	/** For one try and its whole answer. */
	timeoutMs?: number;
	productRate?: number;
	signal?: AbortSignal;
	longestLimiterWaitMs?: number;
	isUrgent?: boolean;
	share?: number;
	onWait?: (endpoint: Endpoint) => void;
}

const NOTABLE_WAIT_MS = 500;
/** A proxy that did not reach the service may answer with these. Only the error of n8n's helper shows it. */
const PROXY_STATUSES = [403, 407, 500, 502, 503, 504];
/** A 429 may ask for exactly the longest total time, and the next try starts a moment later. */
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
	 * @throws CanceledError between two tries
	 */
	async request<T>(request: ServiceRequest, read: (body: unknown) => T | undefined): Promise<T> {
		for await (const send of this.tries(request, read)) {
			const value = await send();
			if (value !== undefined) return value;
		}
		throw new CanceledError();
	}

	/** Yields each try once the try has a permit, and ends only with an error. */
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
			outcome: unansweredOutcome('rateLimited'),
		};
		for (;;) {
			const options = this.permitOptions(progress);
			const permit = await limiter.acquirePermit(options).catch((error: unknown) => {
				throw error instanceof TooLateError ? this.toError(progress) : error;
			});
			let isSent = false;
			try {
				yield async () => {
					isSent = true;
					await this.sendTry(progress, limiter, permit);
					const value = valueOf(progress.outcome, read);
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
		const { signal, productRate, longestLimiterWaitMs, isUrgent, share, onWait } = this.options;
		return {
			signal,
			isUrgent,
			share,
			isRetry: tries > 0,
			rate: request.endpoint === 'GET /products' ? productRate : undefined,
			latest: Math.min(
				firstSentAt + this.retry.maxTotalMs + GRACE_MS,
				clock.elapsed() + (longestLimiterWaitMs ?? Infinity),
			),
			onWait: (delayMs) => {
				if (delayMs >= NOTABLE_WAIT_MS) onWait?.(request.endpoint);
			},
		};
	}

	private async sendTry(progress: Progress, limiter: RateLimiter, permit: Permit): Promise<void> {
		progress.firstSentAt = Math.min(progress.firstSentAt, clock.elapsed());
		progress.outcome = await this.fetchOutcome(progress.request);
		progress.tries++;
		const { kind, retryAfterMs = 0 } = progress.outcome;
		if (kind !== 'rateLimited') return limiter.releaseUsed(permit);
		const waitMs = rateLimitWaitMs(++progress.rateLimitHits, clock.random());
		limiter.releaseLimited(permit, Math.max(retryAfterMs, waitMs));
	}

	private planRetry(progress: Progress): boolean {
		const { kind, retryAfterMs = 0 } = progress.outcome;
		const { method } = ENDPOINTS[progress.request.endpoint];
		const failedTries = progress.tries - progress.rateLimitHits;
		// After a 429 the next try waits in the limiter.
		const delayMs =
			kind === 'rateLimited' ? 0 : Math.max(retryAfterMs, backoffMs(failedTries, clock.random()));
		progress.delayMs = delayMs;
		const elapsedMs = clock.elapsed() - progress.firstSentAt;
		const isRepeatable = retryDecision(method, kind) === 'retry';
		return isRepeatable && mayRetry(this.retry, { failedTries, elapsedMs, delayMs });
	}

	private async fetchOutcome(request: ServiceRequest): Promise<Outcome> {
		const timeoutMs = this.options.timeoutMs ?? ENDPOINTS[request.endpoint].timeoutMs;
		const late = AbortSignal.timeout(timeoutMs);
		// Once an answer begins, the service has the request.
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
				// Otherwise n8n would decrypt the credential for each request.
				credentialsDecrypted: { id: '', name: '', type: CREDENTIAL_NAME, data: account.credential },
			},
		);
		return responseHead.parse(await sending.catch(takeAnswer));
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

	private toError({ request: { endpoint, body }, outcome, tries }: Progress): Error {
		const { apiToken } = this.account.credential;
		const hasTwoTokens = body?.api_token !== undefined && body.api_token !== apiToken;
		const error = new ServiceError(endpoint, outcome, tries, hasTwoTokens);
		// `idempotency/` takes a canceled request for not processed, so a request in doubt stays an error.
		const isCanceled = this.options.signal?.aborted === true;
		return isCanceled && !error.isInDoubt ? new CanceledError() : error;
	}
}

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
