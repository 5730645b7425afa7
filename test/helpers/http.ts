import { request, type IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../sandbox/http';

export interface HttpAnswer {
	status: number;
	headers: IncomingHttpHeaders;
	text: string;
	/** Undefined if the body is not JSON. */
	json: unknown;
}

/** Only `connection` and `content-length` are added. */
export interface HttpCall {
	method?: string;
	headers?: Record<string, string>;
	body?: string | Buffer;
}

/** Uses a new connection, which closes with the answer. */
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
