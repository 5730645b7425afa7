import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseJson } from '../../sandbox/http';

/** Half of the documented limit of 20 requests a minute. */
const APART_MS = 6_000;
const TIMEOUT_MS = 120_000;

export interface Settings {
	baseUrl: string;
	token: string;
	/** Sent in the body of a charge, if the account has one. */
	secondToken: string;
	customer: object;
	hashes: string[];
	charge: boolean;
	/** The product that gets an offer. */
	offer?: string;
	listenAt?: number;
	say: (text: string) => void;
	sleep: (ms: number) => Promise<void>;
}

export interface Answer {
	status: number | string;
	headers: Record<string, string>;
	/** Undefined if the body is not JSON. */
	json: unknown;
}

/** Sends a GET, or a POST if there is a body, and repeats nothing. Never rejects. */
export async function ask(
	{ baseUrl, token, sleep }: Settings,
	path: string,
	body?: object,
	withToken = true,
): Promise<Answer> {
	await sleep(APART_MS);
	try {
		const response = await fetch(baseUrl + path, {
			method: body ? 'POST' : 'GET',
			// A redirect would send the token to another address.
			redirect: 'manual',
			headers: {
				accept: 'application/json',
				...(withToken && { authorization: `Bearer ${token}` }),
				...(body && { 'content-type': 'application/json' }),
			},
			...(body && { body: JSON.stringify(body) }),
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		const headers = Object.fromEntries(response.headers);
		return { status: response.status, headers, json: parseJson(await response.text()) };
	} catch {
		// The message of a failed request may quote its headers.
		return { status: 'no answer', headers: {}, json: undefined };
	}
}

/** The body of the first request that comes to a port of this machine. */
export async function firstWebhook(port: number): Promise<unknown> {
	return await new Promise((resolve, reject) => {
		const server = createServer((request, response) => {
			void text(request).then((body) => {
				response.end('{}');
				server.close();
				resolve(parseJson(body));
			});
		});
		server.once('error', reject).listen(port, '127.0.0.1');
	});
}
