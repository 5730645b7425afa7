import { performance } from 'node:perf_hooks';
import type { SandboxClock } from './clock';
import type { FaultBook, StruckFaults } from './faults';
import { isRecord } from './http';
import type { Notifier } from './notices';
import type { Settings } from './options';
import type { SandboxState } from './state';

export interface RecordedRequest {
	/** Epoch ms of its arrival. */
	at: number;
	method: string;
	/** Without the query, as it was sent (not decoded). */
	path: string;
	query: Record<string, string>;
	/** As received, the token taken out. */
	headers: Record<string, string>;
	/** Whether the Authorization header held the right token. */
	bearer: boolean;
	/** Parsed if it is JSON, else the text, else undefined. */
	body: unknown;
	/** Null as long as there is no answer, and if the connection was cut instead. */
	status: number | null;
	/** Kinds of the faults that struck it. */
	faults: string[];
	/** Real ms from arrival to answer. */
	durationMs: number | null;
}

const KEPT_REQUESTS = 10_000;
const REDACTED = '[redacted]';

export interface IncomingRequest {
	method: string;
	url: string;
	query: Record<string, string>;
	headers: NodeJS.Dict<string | string[]>;
	body: unknown;
}

/** Every request outside of the page and its controls, oldest first. */
export class RequestLog {
	readonly requests: RecordedRequest[] = [];

	constructor(private readonly settings: Settings) {}

	open(incoming: IncomingRequest): RecordedRequest {
		const headers: Record<string, string> = {};
		for (const [name, value] of Object.entries(incoming.headers)) {
			if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
		}
		const bearer = headers['authorization'] === `Bearer ${this.settings.apiToken}`;
		if (headers['authorization'] !== undefined) headers['authorization'] = REDACTED;
		const entry: RecordedRequest = {
			at: Date.now(),
			method: incoming.method,
			path: incoming.url.split('?')[0] ?? '',
			query: this.withoutStrangeToken(incoming.query),
			headers,
			bearer,
			body: isRecord(incoming.body) ? this.withoutStrangeToken(incoming.body) : incoming.body,
			status: null,
			faults: [],
			durationMs: null,
		};
		this.requests.push(entry);
		if (this.requests.length > KEPT_REQUESTS) this.requests.shift();
		return entry;
	}

	close(entry: RecordedRequest, status: number | null): void {
		entry.status = status;
		entry.durationMs = Date.now() - entry.at;
	}

	/** A token that is not the sandbox's own may be somebody's real one: it is not kept. */
	private withoutStrangeToken<T extends Record<string, unknown>>(values: T): T {
		const token = values['api_token'];
		const own: unknown[] = [undefined, this.settings.apiToken, this.settings.bodyApiToken];
		return own.includes(token) ? values : { ...values, api_token: REDACTED };
	}
}

const MINUTE_MS = 60_000;

export interface Ruling {
	allowed: boolean;
	headers: Record<string, string>;
}

/**
 * Requests a minute per token and endpoint (section "Limits"), the window in sandbox time, the
 * headers as Laravel's throttle writes them and in real time.
 */
export class RateLimiter {
	private readonly hits = new Map<string, number[]>();

	constructor(
		private readonly clock: SandboxClock,
		private readonly kind: 'fixed' | 'sliding',
		private readonly sendHeaders: boolean,
	) {}

	check(key: string, limit: number | null): Ruling {
		if (limit === null) return { allowed: true, headers: {} };
		const now = performance.now();
		const window = this.clock.toReal(MINUTE_MS);
		const hits = this.open(key, now, window);
		const allowed = hits.length < limit;
		// A refused request does not count, or a client that keeps asking would never be let in.
		if (allowed) hits.push(now);
		const headers: Record<string, string> = {
			'x-ratelimit-limit': String(limit),
			'x-ratelimit-remaining': String(Math.max(0, limit - hits.length)),
		};
		if (!allowed) {
			const waitMs = (hits[0] ?? now) + window - now;
			headers['retry-after'] = String(Math.max(1, Math.ceil(waitMs / 1000)));
			headers['x-ratelimit-reset'] = String(Math.ceil((Date.now() + waitMs) / 1000));
		}
		return { allowed, headers: this.sendHeaders ? headers : {} };
	}

	reset(): void {
		this.hits.clear();
	}

	private open(key: string, now: number, window: number): number[] {
		const known = this.hits.get(key) ?? [];
		const first = known[0];
		let open = known;
		if (this.kind === 'sliding') open = known.filter((at) => now - at < window);
		else if (first !== undefined && now - first >= window) open = [];
		this.hits.set(key, open);
		return open;
	}
}

/** The parts of a running sandbox, for code that answers a request. */
export interface SandboxParts {
	settings: Settings;
	state: SandboxState;
	clock: SandboxClock;
	faults: FaultBook;
	limiter: RateLimiter;
	log: RequestLog;
	notifier: Notifier;
	/** `http://127.0.0.1:PORT`, known once the sandbox listens. */
	origin: () => string;
}

/** One request as the handlers of the API see it. */
export interface ApiRequest {
	params: Record<string, string>;
	query: Record<string, string>;
	/** Undefined if there is none or it is not JSON. */
	body: unknown;
	faults: StruckFaults;
}
