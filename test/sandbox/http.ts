import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export type JsonObject = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for what is no JSON: Laravel, too, takes a broken body for an empty one. */
export function parseJson(text: unknown): unknown {
	if (typeof text !== 'string' || text === '') return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** The last of repeated query parameters counts, as in PHP. */
export function flatQuery(query: unknown): Record<string, string> {
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

/** What a web server shows where no API is: the sign of a wrong base URL. */
export function strangePage(title: string, text: string): string {
	return `<!DOCTYPE html>
<html lang="pt-BR">
<head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></body>
</html>
`;
}

/** One answer of the service before it goes over the wire; a text is sent as it is, all else as JSON. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: unknown;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
	return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function html(status: number, page: string): Answer {
	return json(status, page, { 'content-type': 'text/html; charset=UTF-8' });
}

/** The error shapes of section "Errors": success and message, or also a list of errors. */
export function failure(status: number, message: string, errors?: string[]): Answer {
	return json(status, { success: false, message, ...(errors && { errors }) });
}

/** The answer above a rate limit; a fault may leave out how long to wait. */
export function tooMany(seconds?: number): Answer {
	const body = { message: 'Too Many Attempts.' };
	return json(429, body, seconds === undefined ? {} : { 'retry-after': String(seconds) });
}

function bytesOf({ body }: Answer): Buffer {
	return Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
}

export function sendAnswer(
	response: ServerResponse,
	answer: Answer,
	bytes = bytesOf(answer),
): void {
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	response.end(bytes);
}

/** Announces half of the body and sends that. */
export function sendShort(response: ServerResponse, answer: Answer): void {
	const bytes = bytesOf(answer);
	sendAnswer(response, answer, bytes.subarray(0, bytes.length / 2));
}

/** Announces the whole body, hands over half of it and breaks the connection. */
export function sendCut(response: ServerResponse, answer: Answer): void {
	const bytes = bytesOf(answer);
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
}

const PIECES = 20;
const FILLER_BYTES = 1_048_576;

/** Hands the body over in pieces, spread over a time. */
export async function sendSlowly(
	response: ServerResponse,
	answer: Answer,
	milliseconds: number,
): Promise<void> {
	const bytes = bytesOf(answer);
	const size = Math.ceil(bytes.length / PIECES);
	response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
	for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
		await pause(milliseconds / PIECES);
		response.write(bytes.subarray(from, from + size));
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
	response.writeHead(answer.status, answer.headers);
	response.on('drain', more);
	more();
}
