import { setTimeout as pause } from 'node:timers/promises';
import { readFault } from '../../../nodes/DigitalSales/api/outcome';
import { readRateLimitHeaders, retryAfterMs } from '../../../nodes/DigitalSales/api/response';

export type Endpoint =
	| 'GET /products'
	| 'GET /transactions/{hash}'
	| 'POST /products/{hash}/offers'
	| 'POST /transactions';

export interface Answer {
	endpoint: Endpoint;
	/** 0 if no answer came. */
	status: number;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Undefined if the body is not JSON. */
	json: unknown;
	isPage: boolean;
	/** The system code if no answer came. */
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
/** Of GET /products; taken for every endpoint until it states its own. */
const DOCUMENTED_LIMIT = 20;
const READ_TIMEOUT_MS = 30_000;
/** A PIX charge was seen to take 30 s. */
const POST_TIMEOUT_MS = 120_000;
/** A service that asks for more is not asked again. */
const LONGEST_WAIT_MS = 120_000;

/**
 * Plain requests to the service, so that its answers are seen as they are. An endpoint gets half of
 * the requests a minute that it states.
 */
export class Service {
	/** One for each request that was sent. */
	readonly answers: Answer[] = [];
	private readonly sentAt = new Map<Endpoint, number[]>();
	private readonly stated = new Map<Endpoint, number>();
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
			await this.connection.clock.sleep(wait);
			const again = await this.send(endpoint, request);
			if (again.status !== 429) return again;
		}
		this.closed.set(endpoint, answer);
		return answer;
	}

	/** Sends one POST, once whatever the answer is; never rejects. */
	async post(endpoint: Endpoint & `POST ${string}`, path: string, body: object): Promise<Answer> {
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
				signal: AbortSignal.timeout(body ? POST_TIMEOUT_MS : READ_TIMEOUT_MS),
			});
			return this.take(endpoint, response, await response.text());
		} catch (error) {
			// Only the code is kept: the message of a failed request may quote its headers.
			return {
				endpoint,
				status: 0,
				headers: {},
				json: undefined,
				isPage: false,
				fault: readFault(error).code ?? 'it broke off or took too long',
			};
		}
	}

	private take(endpoint: Endpoint, { status, headers }: Response, text: string): Answer {
		const answer: Answer = {
			endpoint,
			status,
			headers: Object.fromEntries(headers),
			json: parseJson(text),
			isPage: /^\s*<(!doctype|html)/i.test(text),
		};
		const { limit } = readRateLimitHeaders(answer.headers);
		if (limit !== undefined) this.stated.set(endpoint, limit);
		return answer;
	}

	/** Waits until half of the limit has room for one request. */
	private async waitFor(endpoint: Endpoint): Promise<void> {
		const { clock } = this.connection;
		const limit = Math.max(1, this.stated.get(endpoint) ?? DOCUMENTED_LIMIT);
		const half = Math.max(1, Math.floor(limit / 2));
		const window = limit === 1 ? 2 * MINUTE_MS : MINUTE_MS;
		const sentAt = this.sentAt.get(endpoint) ?? [];
		const first = sentAt.at(-half);
		if (first !== undefined) await clock.sleep(Math.max(0, first + window - clock.now()));
		sentAt.push(clock.now());
		this.sentAt.set(endpoint, sentAt);
	}
}

/** Undefined if it is not JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** Whether an answer says something of the service, and not of the moment. */
export function isAnswered({ status }: Answer): boolean {
	return ![0, 429, 502, 503, 504].includes(status);
}

export function isSuccess({ status }: Answer): boolean {
	return status >= 200 && status < 300;
}
