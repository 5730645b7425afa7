import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export type JsonObject = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for a text that is not JSON, because Laravel also treats a broken body as empty. */
export function parseJson(text: unknown): unknown {
	if (typeof text !== 'string' || text === '') return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** Flattens a query. The last value of a repeated parameter counts, as in PHP. */
export function flattenQuery(query: unknown): Record<string, string> {
	const flat: Record<string, string> = {};
	for (const [name, value] of Object.entries(isRecord(query) ? query : {})) {
		const last: unknown = Array.isArray(value) ? value.at(-1) : value;
		if (typeof last === 'string') flat[name] = last;
	}
	return flat;
}

export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** A page that a web server shows outside the API: the sign of a wrong base URL. */
export function foreignPage(title: string, text: string): string {
	return `<!DOCTYPE html>
<html lang="pt-BR">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></body>
</html>
`;
}

/** An answer of the platform. A text body is sent unchanged, any other body as JSON. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: unknown;
}

export function jsonAnswer(
	status: number,
	body: unknown,
	headers: Record<string, string> = {},
): Answer {
	return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function htmlAnswer(status: number, page: string): Answer {
	return jsonAnswer(status, page, { 'content-type': 'text/html; charset=UTF-8' });
}

/** The error shapes of section "Errors": `success` and `message`, and possibly a list of errors. */
export function failureAnswer(status: number, message: string, errors?: string[]): Answer {
	return jsonAnswer(status, { success: false, message, ...(errors && { errors }) });
}

/** The answer above the rate limit. A fault may omit Retry-After. */
export function tooManyRequests(seconds?: number): Answer {
	const body = { message: 'Too Many Attempts.' };
	return jsonAnswer(429, body, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}

function encodeBody({ body }: Answer): Buffer {
	return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}

export function sendAnswer(
	response: ServerResponse,
	answer: Answer,
	bytes = encodeBody(answer),
): void {
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	response.end(bytes);
}

/** Sends half of the body, with that length as content-length. */
export function sendShort(response: ServerResponse, answer: Answer): void {
	const bytes = encodeBody(answer);
	sendAnswer(response, answer, bytes.subarray(0, bytes.length / 2));
}

/** Announces the whole body, sends half of it and breaks the connection. */
export function sendCut(response: ServerResponse, answer: Answer): void {
	const bytes = encodeBody(answer);
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
}

const PIECES = 20;
const FILLER_BYTES = 1_048_576;

/** Sends the body in pieces, spread over `milliseconds`. */
export async function sendSlowly(
	response: ServerResponse,
	answer: Answer,
	milliseconds: number,
): Promise<void> {
	const bytes = encodeBody(answer);
	const size = Math.ceil(bytes.length / PIECES);
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
		await pause(milliseconds / PIECES);
		response.write(bytes.subarray(from, from + size));
	}
	// Without a pause after the last piece, because a client with the whole body may send its next request.
	response.end();
}

/** Sends a body without an end, as fast as the client reads it, until the client hangs up. */
export function sendEndlessly(response: ServerResponse, answer: Answer): void {
	const filler = Buffer.alloc(FILLER_BYTES, ' ');
	const more = (): void => {
		while (!response.destroyed && response.write(filler));
	};
	response.writeHead(answer.status, answer.headers);
	response.on('drain', more);
	more();
}
