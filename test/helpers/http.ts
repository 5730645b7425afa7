import { request, type IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../sandbox/http';

/** What a loopback server answered. */
export interface HttpAnswer {
	status: number;
	headers: IncomingHttpHeaders;
	text: string;
	/** The body read as JSON, undefined if it is not JSON. */
	json: unknown;
}

/** A request as it goes over the wire: nothing is added to it, not even a content type. */
export interface HttpCall {
	method?: string;
	headers?: Record<string, string>;
	body?: string | Buffer;
}

/** Sends one request on a connection of its own, which is closed with the answer. */
export async function sendRequest(url: string, call: HttpCall = {}): Promise<HttpAnswer> {
	return await new Promise((resolve, reject) => {
		const headers: Record<string, string> = { connection: 'close', ...call.headers };
		if (call.body !== undefined) headers['content-length'] ??= String(Buffer.byteLength(call.body));
		const sent = request(
			url,
			{ method: call.method ?? 'POST', headers, agent: false },
			(answer) => {
				const chunks: Buffer[] = [];
				answer.on('data', (chunk: Buffer) => chunks.push(chunk));
				answer.on('error', reject);
				answer.on('end', () => {
					const text = Buffer.concat(chunks).toString('utf8');
					resolve({
						status: answer.statusCode ?? 0,
						headers: answer.headers,
						text,
						json: parseJson(text),
					});
				});
			},
		);
		sent.on('error', reject);
		sent.end(call.body);
	});
}

export async function postJson(
	url: string,
	body: unknown,
	headers: Record<string, string> = {},
): Promise<HttpAnswer> {
	return await sendRequest(url, {
		headers: { 'content-type': 'application/json', ...headers },
		body: JSON.stringify(body),
	});
}
