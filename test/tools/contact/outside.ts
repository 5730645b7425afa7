import { parse as parseForm } from 'node:querystring';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyRequest } from 'fastify';
import { readFault } from '../../../nodes/DigitalSales/n8n/httpHelper';
import { parseJson } from '../../sandbox/http';

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

/** Half of the documented limit of 20 requests a minute. */
const APART_MS = 6_000;
const READ_TIMEOUT_MS = 30_000;
/** As long as the package waits. */
const POST_TIMEOUT_MS = 120_000;

/** Sends plain requests one after the other, and repeats none. */
export class Service {
	private apartMs = 0;

	constructor(
		private readonly baseUrl: string,
		private readonly token: string,
		private readonly sleep: (ms: number) => Promise<void>,
	) {}

	/** Sends a GET, or a POST if there is a body. Never rejects. */
	async ask(path: string, body?: object, withToken = true): Promise<Answer> {
		await this.sleep(this.apartMs);
		const late = AbortSignal.timeout(body ? POST_TIMEOUT_MS : READ_TIMEOUT_MS);
		try {
			const response = await fetch(this.baseUrl + path, {
				method: body ? 'POST' : 'GET',
				// A redirect would send the token to another address.
				redirect: 'manual',
				headers: {
					accept: 'application/json',
					...(withToken && { authorization: `Bearer ${this.token}` }),
					...(body && { 'content-type': 'application/json' }),
				},
				...(body && { body: JSON.stringify(body) }),
				signal: late,
			});
			const headers = Object.fromEntries(response.headers);
			this.apartMs = pauseAfter(headers);
			return { status: response.status, headers, json: parseJson(await response.text()) };
		} catch (error) {
			// Keeps only the code, because the message of a failed request may quote its headers.
			const fault = late.aborted ? 'it took too long' : (readFault(error).code ?? 'it broke off');
			return { status: 0, headers: {}, json: undefined, fault };
		}
	}
}

/** Leaves half of the limit that the service states to others, and waits after a 429. */
function pauseAfter(headers: Record<string, string>): number {
	const stated = Object.entries(headers)
		.filter(([name]) => /rate-?limit-?(limit|requests)?$/.test(name))
		.map(([, value]) => Number.parseInt(value, 10));
	const least = Math.min(...stated.filter((limit) => limit > 0));
	const asked = Number(headers['retry-after']) * 1_000 || 0;
	return Math.max(APART_MS, 120_000 / least, Math.min(asked, 120_000));
}

export type Received = ReturnType<typeof receivedFrom>;
export type Listener = Awaited<ReturnType<typeof listen>>;

const LARGEST_NOTICE = 262_144;

/** Receives requests from now on, and answers each 200. */
export async function listen(port: number) {
	const received: Received[] = [];
	const server = fastify({ bodyLimit: LARGEST_NOTICE, forceCloseConnections: true });
	server.removeAllContentTypeParsers();
	server.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) => {
		done(null, text);
	});
	server.all('*', async () => ({}));
	// Without this answer, the service would send the webhook again. The command may end at once.
	server.addHook('onResponse', async (request) => {
		if (typeof request.body === 'string') received.push(receivedFrom(request, request.body));
	});
	await server.listen({ port, host: '127.0.0.1' });
	return {
		port: (server.server.address() as AddressInfo).port,
		received,
		close: async () => await server.close(),
	};
}

function receivedFrom({ method, headers, query }: FastifyRequest, text: string) {
	const contentType = headers['content-type']?.split(';')[0]?.trim() ?? '';
	const isForm = contentType === 'application/x-www-form-urlencoded';
	return {
		method,
		contentType,
		headers: Object.keys(headers),
		query: Object.keys(query as object),
		// As the trigger gets it from n8n: undefined if it is neither JSON nor a form.
		body: isForm ? { ...parseForm(text) } : parseJson(text),
		text,
	};
}
