import { performance } from 'node:perf_hooks';
import type { FaultBook, RawRequest, StruckFaults } from './faults';
import { isRecord } from './http';
import type { Notifier } from './notifications';
import type { Settings } from './options';
import type { SandboxState } from './state';

export interface RecordedRequest {
	/** When the request arrived, in epoch ms. */
	at: number;
	method: string;
	/** Without the query, as it was sent (not decoded). */
	path: string;
	query: Record<string, string>;
	/** As received, without the token. */
	headers: Record<string, string>;
	/** Whether the Authorization header held the right token. */
	bearer: boolean;
	/** The parsed JSON, or the text, or undefined without a body. */
	body: unknown;
	/** Null before the answer, and if the connection was cut instead. */
	status: number | null;
	/** Time from arrival to answer. */
	durationMs: number | null;
}

const REDACTED = '[redacted]';

/** Records the API requests, oldest first. */
export class RequestLog {
	readonly requests: RecordedRequest[] = [];

	constructor(private readonly settings: Settings) {}

	open(incoming: RawRequest & { query: Record<string, string> }): RecordedRequest {
		const headers = Object.fromEntries(
			Object.entries(incoming.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
		);
		const bearer = headers.authorization === `Bearer ${this.settings.apiToken}`;
		if (headers.authorization !== undefined) headers.authorization = REDACTED;
		const entry: RecordedRequest = {
			at: Date.now(),
			method: incoming.method,
			path: incoming.url.split('?')[0] ?? '',
			query: this.withoutStrangeToken(incoming.query),
			headers,
			bearer,
			body: isRecord(incoming.body) ? this.withoutStrangeToken(incoming.body) : incoming.body,
			status: null,
			durationMs: null,
		};
		this.requests.push(entry);
		return entry;
	}

	close(entry: RecordedRequest, status: number | null): void {
		entry.status = status;
		entry.durationMs = Date.now() - entry.at;
	}

	/** Removes a token that is not the sandbox's own, because it may be a real token. */
	private withoutStrangeToken<T extends Record<string, unknown>>(values: T): T {
		const token = values['api_token'];
		const own: unknown[] = [undefined, this.settings.apiToken, this.settings.bodyApiToken];
		return own.includes(token) ? values : { ...values, api_token: REDACTED };
	}
}

const MINUTE_MS = 60_000;

/** Limits the requests in any minute, per endpoint (section "Limits"). */
export class RateLimiter {
	private readonly hits = new Map<string, number[]>();

	/** Counts a request. Returns the seconds to wait if the limit is reached. */
	admit(key: string, limit: number | null): number | undefined {
		if (limit === null) return undefined;
		const now = performance.now();
		const hits = (this.hits.get(key) ?? []).filter((at) => at > now - MINUTE_MS);
		this.hits.set(key, hits);
		const [first = now] = hits;
		// A refused request does not count. Otherwise a client that repeats requests would never be admitted.
		if (hits.length < limit) return void hits.push(now);
		return Math.max(1, Math.ceil((first + MINUTE_MS - now) / 1000));
	}

	reset(): void {
		this.hits.clear();
	}
}

/** The parts of a running sandbox, for code that answers a request. */
export interface SandboxParts {
	settings: Settings;
	state: SandboxState;
	/** Is aborted when the sandbox closes. */
	closing: AbortController;
	faults: FaultBook;
	limiter: RateLimiter;
	log: RequestLog;
	notifier: Notifier;
	/** `http://127.0.0.1:PORT`, known once the sandbox listens. */
	origin: string;
}

/** A request as API handlers receive it. */
export interface ApiRequest {
	params: Record<string, string>;
	query: Record<string, string>;
	/** Undefined without a body, and if it is not JSON. */
	body: unknown;
	faults: StruckFaults;
}
