import { readFault } from '../../../nodes/DigitalSales/api/outcome';

export interface Answer {
	/** 0 if no answer came. */
	status: number;
	/** By lower-case name. */
	headers: Record<string, string>;
	/** Undefined if the body is not JSON. */
	json: unknown;
	/** What went wrong if no answer came. */
	fault?: string;
}

interface Connection {
	baseUrl: string;
	token: string;
}

interface Surroundings {
	say: (text: string) => void;
	sleep: (ms: number) => Promise<void>;
}

/** Half of 20 a minute. */
const APART_MS = 6_000;
const READ_TIMEOUT_MS = 30_000;
/** As long as the package waits. */
const POST_TIMEOUT_MS = 120_000;

/** Plain requests, one after the other, so that the answers are seen as they are; none is repeated. */
export class Service {
	private apartMs = 0;

	constructor(
		private readonly connection: Connection,
		private readonly surroundings: Surroundings,
	) {}

	/** Reads; never rejects. */
	async get(path: string, withToken = true): Promise<Answer> {
		return await this.exchange(path, withToken);
	}

	/** Sends one POST, once whatever the answer is; never rejects. */
	async post(path: string, body: object): Promise<Answer> {
		// Before it is sent, so that it is known however the command ends.
		this.surroundings.say(`Sending a POST to ${path.split('/').pop()} once.`);
		return await this.exchange(path, true, body);
	}

	private async exchange(path: string, withToken: boolean, body?: object): Promise<Answer> {
		const { baseUrl, token } = this.connection;
		await this.surroundings.sleep(this.apartMs);
		const late = AbortSignal.timeout(body ? POST_TIMEOUT_MS : READ_TIMEOUT_MS);
		try {
			const response = await fetch(`${baseUrl}${path}`, {
				method: body ? 'POST' : 'GET',
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
			const headers = Object.fromEntries(response.headers);
			this.pace(headers);
			return { status: response.status, headers, json: parseJson(await response.text()) };
		} catch (error) {
			// Only a code is kept: the message of a failed request may quote its headers.
			const fault = late.aborted ? 'it took too long' : (readFault(error).code ?? 'it broke off');
			return { status: 0, headers: {}, json: undefined, fault };
		}
	}

	/** Leaves half of the limit that the service states to others, and waits after a 429. */
	private pace(headers: Record<string, string>): void {
		const stated = Object.entries(headers)
			.filter(([name]) => /rate-?limit-?(limit|requests)?$/.test(name))
			.map(([, value]) => Number.parseInt(value, 10));
		const least = Math.min(...stated.filter((limit) => limit > 0));
		const asked = Number(headers['retry-after']) * 1_000 || 0;
		this.apartMs = Math.max(APART_MS, 120_000 / least, Math.min(asked, 120_000));
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
