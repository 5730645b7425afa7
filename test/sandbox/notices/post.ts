import http from 'node:http';
import https from 'node:https';

export interface PostResult {
	/** Null if there was no answer. */
	status: number | null;
	answer: string;
	error: string | null;
	timedOut: boolean;
}

const KEPT_ANSWER = 500;

/** Whether a notification may go there: the sandbox talks to this machine alone. */
export function isLoopback(address: string): boolean {
	if (!URL.canParse(address)) return false;
	const { protocol, hostname } = new URL(address);
	if (protocol !== 'http:' && protocol !== 'https:') return false;
	return (
		hostname === 'localhost' ||
		hostname.endsWith('.localhost') ||
		hostname === '[::1]' ||
		/^127\.\d+\.\d+\.\d+$/.test(hostname)
	);
}

/** Posts JSON once, without following redirects; never rejects. */
export async function postJson(
	url: string,
	body: object,
	timeoutMs: number,
	signal: AbortSignal,
): Promise<PostResult> {
	const text = JSON.stringify(body);
	const target = new URL(url);
	const secure = target.protocol === 'https:';
	const deadline = AbortSignal.timeout(timeoutMs);
	return await new Promise((resolve) => {
		const fail = (error: Error): void => {
			const timedOut = deadline.aborted && !signal.aborted;
			const message = timedOut ? `No answer within ${timeoutMs} ms` : error.message;
			resolve({ status: null, answer: '', error: message, timedOut });
		};
		const request = (secure ? https : http).request(target, {
			method: 'POST',
			// A pooled connection would outlive the sandbox.
			agent: false,
			signal: AbortSignal.any([signal, deadline]),
			headers: {
				'content-type': 'application/json',
				accept: 'application/json',
				'content-length': Buffer.byteLength(text),
				'user-agent': 'GuzzleHttp/7',
			},
			...(secure ? { rejectUnauthorized: false } : {}),
		});
		request.on('error', fail);
		request.on('response', (response) => {
			let answer = '';
			response.setEncoding('utf8');
			response.on('data', (chunk: string) => {
				if (answer.length < KEPT_ANSWER) answer += chunk.slice(0, KEPT_ANSWER);
			});
			response.on('error', fail);
			response.on('end', () => {
				resolve({ status: response.statusCode ?? null, answer, error: null, timedOut: false });
			});
		});
		request.end(text);
	});
}
