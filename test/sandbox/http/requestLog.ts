import type { Settings } from '../options';
import { isRecord } from './json';

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
