import type { ServerResponse } from 'node:http';
import { bodyText, type Answer } from '../api/answer';

/** Writes the whole answer. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
	const text = bodyText(answer);
	response.writeHead(answer.status, {
		'content-type': 'application/json',
		...answer.headers,
		'content-length': Buffer.byteLength(text),
	});
	response.end(text, answer.afterSent);
}

/** Announces the whole body, hands over a part of it and breaks the connection. */
export function sendCut(response: ServerResponse, answer: Answer, keep: number): void {
	const whole = Buffer.from(bodyText(answer), 'utf8');
	response.writeHead(answer.status, {
		'content-type': 'application/json',
		...answer.headers,
		'content-length': whole.length,
	});
	const part = whole.subarray(0, Math.min(whole.length - 1, Math.floor(whole.length * keep)));
	response.write(part, () => response.socket?.destroy());
	answer.afterSent?.();
}

/** A connection reset instead of an answer. */
export function sendReset(response: ServerResponse): void {
	response.socket?.resetAndDestroy();
}
