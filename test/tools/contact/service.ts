import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
	ENDPOINTS,
	type Endpoint,
	type OutcomeKind,
	readFault,
} from '../../../nodes/DigitalSales/api/outcome';
import type { Redactor } from '../../../nodes/DigitalSales/api/redact';
import {
	MOST_BODY_BYTES,
	readBody,
	readResponse,
	retryAfterMs,
	takeText,
} from '../../../nodes/DigitalSales/api/response';
import { readServiceWords, saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';

export interface Answer {
	endpoint: Endpoint;
	/** 0 if no answer came. */
	status: number;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Undefined if the body is not JSON. */
	json: unknown;
	/** What the package makes of it. */
	kind?: OutcomeKind;
	isWebPage?: boolean;
	/** What went wrong if no answer came. */
	fault?: string;
}

export interface Clock {
	now(): number;
	sleep(ms: number): Promise<void>;
}

export const realClock: Clock = {
	now: () => performance.now(),
	sleep: async (ms) => {
		await pause(ms);
	},
};

interface Connection {
	baseUrl: string;
	token: string;
	clock: Clock;
	redact: Redactor;
	say: (text: string) => void;
}

interface ReadOptions {
	query?: Record<string, string>;
	withToken?: boolean;
	/** Whether to wait and ask again after a 429. */
	isPatient?: boolean;
}

interface Request {
	path: string;
	withToken: boolean;
	body?: object;
}

const MINUTE_MS = 60_000;
/** Taken for every endpoint until it states its own. */
export const DOCUMENTED_LIMIT = ENDPOINTS['GET /products'].requestsPerMinute;
const READ_TIMEOUT_MS = 30_000;
/** As long as the package waits. */
const POST_TIMEOUT_MS = 120_000;
/** A service that asks for more is not asked again. */
const LONGEST_WAIT_MS = 120_000;

/**
 * Plain requests to the service, so that its answers are seen as they are. An endpoint gets half of
 * the requests a minute that it states, together with those of others that it tells of.
 */
export class Service {
	/** One for each request that was sent. */
	readonly answers: Answer[] = [];
	private readonly sentAt = new Map<Endpoint, number[]>();
	private readonly stated = new Map<Endpoint, number>();
	private readonly freeAt = new Map<Endpoint, number>();
	private readonly closed = new Map<Endpoint, Answer>();

	constructor(private readonly connection: Connection) {}

	/** Reads; never rejects. */
	async get(
		endpoint: Endpoint & `GET ${string}`,
		path: string,
		{ query = {}, withToken = true, isPatient = true }: ReadOptions = {},
	): Promise<Answer> {
		const closed = this.closed.get(endpoint);
		if (closed) return closed;
		const search = new URLSearchParams(query).toString();
		const request = { path: search === '' ? path : `${path}?${search}`, withToken };
		const answer = await this.send(endpoint, request);
		if (answer.status !== 429 || !isPatient) return answer;
		const wait = retryAfterMs(answer.headers) ?? MINUTE_MS;
		if (wait <= LONGEST_WAIT_MS) {
			await this.pause(wait);
			const again = await this.send(endpoint, request);
			if (again.status !== 429) return again;
		}
		this.closed.set(endpoint, answer);
		return answer;
	}

	/** Sends one POST, once whatever the answer is; never rejects. */
	async post(endpoint: Endpoint & `POST ${string}`, path: string, body: object): Promise<Answer> {
		// Before it is sent, so that it is known however the command ends.
		this.connection.say(`Sending ${endpoint} once.`);
		return await this.send(endpoint, { path, withToken: true, body });
	}

	private async send(endpoint: Endpoint, request: Request): Promise<Answer> {
		await this.waitFor(endpoint);
		const answer = await this.exchange(endpoint, request);
		this.answers.push(answer);
		return answer;
	}

	private async exchange(endpoint: Endpoint, { path, withToken, body }: Request): Promise<Answer> {
		const { baseUrl, token } = this.connection;
		const late = AbortSignal.timeout(body ? POST_TIMEOUT_MS : READ_TIMEOUT_MS);
		try {
			const response = await fetch(`${baseUrl}${path}`, {
				method: endpoint.split(' ')[0],
				// A redirect would take the token along.
				redirect: 'manual',
				headers: {
					accept: 'application/json',
					...(withToken && { authorization: `Bearer ${token}` }),
					...(body && { 'content-type': 'application/json' }),
				},
				...(body && { body: JSON.stringify(body) }),
				signal: late,
			});
			return this.take(endpoint, response, await textOf(response, late));
		} catch (error) {
			return {
				endpoint,
				status: 0,
				headers: {},
				json: undefined,
				fault: late.aborted ? 'it took too long' : faultOf(error),
			};
		}
	}

	private take(endpoint: Endpoint, response: Response, text: string | undefined): Answer {
		const { clock, redact } = this.connection;
		const { status } = response;
		const headers = Object.fromEntries(response.headers);
		const { body, kind, isWebPage } = readResponse({ status, headers, text }, redact);
		const { limit, remaining } = statedLimit(headers);
		if (limit !== undefined) {
			this.stated.set(endpoint, limit);
			const { half, windowMs } = this.paceOf(endpoint);
			if (remaining !== undefined && limit - remaining >= half) {
				this.freeAt.set(endpoint, clock.now() + windowMs);
			}
		}
		return { endpoint, status, headers, json: body, kind, isWebPage };
	}

	/** Waits until half of the limit has room for one request. */
	private async waitFor(endpoint: Endpoint): Promise<void> {
		const { clock } = this.connection;
		const { half, windowMs } = this.paceOf(endpoint);
		const sentAt = this.sentAt.get(endpoint) ?? [];
		const first = sentAt.at(-half) ?? -Infinity;
		const wait = Math.max(this.freeAt.get(endpoint) ?? 0, first + windowMs) - clock.now();
		if (wait > 0) await this.pause(wait);
		sentAt.push(clock.now());
		this.sentAt.set(endpoint, sentAt);
	}

	private async pause(ms: number): Promise<void> {
		const seconds = Math.ceil(ms / 1_000);
		this.connection.say(`Waiting ${seconds} seconds because of the rate limit.`);
		await this.connection.clock.sleep(ms);
	}

	private paceOf(endpoint: Endpoint): { half: number; windowMs: number } {
		const limit = this.stated.get(endpoint) ?? DOCUMENTED_LIMIT;
		// Of one request a minute, half is one in two minutes.
		return limit < 2
			? { half: 1, windowMs: 2 * MINUTE_MS }
			: { half: Math.floor(limit / 2), windowMs: MINUTE_MS };
	}
}

/** Undefined if it is larger than the package reads. */
async function textOf({ body }: Response, late: AbortSignal): Promise<string | undefined> {
	if (!body) return '';
	const chunks = await readBody(Readable.fromWeb(body), late);
	return chunks && takeText(chunks);
}

/** Only a code is kept: the message of a failed request may quote its headers. */
function faultOf(error: unknown): string {
	const isBadPort = isJsonObject(error) && String(error.cause) === 'Error: bad port';
	return readFault(error).code ?? (isBadPort ? 'Node.js refuses this port' : 'it broke off');
}

export interface StatedLimit {
	limit?: number;
	remaining?: number;
	/** The headers that tell of a limit. */
	names: string[];
}

/** What the headers say of a limit, under any name that services use; the least if they say several. */
export function statedLimit(headers: Record<string, string>): StatedLimit {
	const names = Object.keys(headers).filter((name) => /rate-?limit/.test(name));
	const least = (isMeant: (name: string) => boolean): number | undefined => {
		const numbers = names
			.filter(isMeant)
			.map((name) => Number(/\d+/.exec(headers[name] ?? '')?.[0] ?? NaN))
			.filter((number) => Number.isSafeInteger(number));
		return numbers.length === 0 ? undefined : Math.min(...numbers);
	};
	return {
		limit: least((name) => !/remaining|reset|used/.test(name)),
		remaining: least((name) => name.includes('remaining')),
		names,
	};
}

/** Whether an answer says something of the service, and not of the moment. */
export function isAnswered({ status }: Answer): boolean {
	return ![0, 429, 502, 503, 504].includes(status);
}

export function isSuccess({ status, json }: Answer): boolean {
	return status >= 200 && status < 300 && !saysFailure(json);
}

/** Whether the service refuses the token, by the status or in its words. */
export function refusesToken(answer: Answer): boolean {
	const { status, json, isWebPage } = answer;
	if (isSuccess(answer) || !isAnswered(answer) || isWebPage) return false;
	if (status === 401 || status === 403) return true;
	const { messages, fields } = readServiceWords(json);
	return /token(?! removed)|unauth/i.test([...messages, ...Object.keys(fields)].join(' '));
}

/** How a request was answered, in a few words. */
export function statusOf({ status, fault, kind, isWebPage, json }: Answer): string {
	if (status === 0) return `no answer (${fault})`;
	const failure = status < 300 && saysFailure(json) ? 'which says that it failed' : undefined;
	const what = failure ?? (isWebPage ? 'a web page' : kind && UNREADABLE[kind]);
	return what === undefined ? String(status) : `${status}, ${what}`;
}

const UNREADABLE: Partial<Record<OutcomeKind, string>> = {
	unreadable: 'no JSON',
	tooLarge: `more than ${MOST_BODY_BYTES / 1_048_576} MB`,
};
