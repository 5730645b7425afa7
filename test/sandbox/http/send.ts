import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { bodyText, type Answer } from '../api/answer';

/** Writes the whole answer. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
	const text = bodyText(answer);
	begin(response, answer, { 'content-length': Buffer.byteLength(text) });
	response.end(text, answer.afterSent);
}

/** Announces the whole body, hands over a part of it and breaks the connection. */
export function sendCut(response: ServerResponse, answer: Answer, keep: number): void {
	const whole = Buffer.from(bodyText(answer), 'utf8');
	begin(response, answer, { 'content-length': whole.length });
	const part = whole.subarray(0, Math.min(whole.length - 1, Math.floor(whole.length * keep)));
	response.write(part, () => response.socket?.destroy());
	answer.afterSent?.();
}

const PIECES = 20;
const FILLER_BYTES = 1_048_576;

/** Hands the body over in pieces, spread over a time. */
export async function sendSlowly(
	response: ServerResponse,
	answer: Answer,
	milliseconds: number,
): Promise<void> {
	const whole = Buffer.from(bodyText(answer), 'utf8');
	const size = Math.ceil(whole.length / PIECES);
	begin(response, answer, { 'content-length': whole.length });
	answer.afterSent?.();
	for (let from = 0; from < whole.length && !response.destroyed; from += size) {
		await pause(milliseconds / PIECES);
		response.write(whole.subarray(from, from + size));
	}
	// At once with the last piece: a client that has all of it may send its next request.
	response.end();
}

/** Hands over a body that has no end, as fast as it is taken, until the client hangs up. */
export function sendEndlessly(response: ServerResponse, answer: Answer): void {
	const filler = Buffer.alloc(FILLER_BYTES, ' ');
	const more = (): void => {
		while (!response.destroyed && response.write(filler));
	};
	begin(response, answer);
	answer.afterSent?.();
	response.on('drain', more);
	more();
}

function begin(
	response: ServerResponse,
	answer: Answer,
	headers: Record<string, number> = {},
): void {
	response.writeHead(answer.status, {
		'content-type': 'application/json',
		...answer.headers,
		...headers,
	});
}

/** A connection reset instead of an answer. */
export function sendReset(response: ServerResponse): void {
	response.socket?.resetAndDestroy();
}
