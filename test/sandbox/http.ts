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
	if (!isRecord(query)) return flat;
	for (const [name, value] of Object.entries(query)) {
		const last: unknown = Array.isArray(value) ? value[value.length - 1] : value;
		if (typeof last === 'string') flat[name] = last;
	}
	return flat;
}

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
	return text
		.replace(/&/g, '&amp;')
		.replace(/</g, '&lt;')
		.replace(/>/g, '&gt;')
		.replace(/"/g, '&quot;')
		.replace(/'/g, '&#39;');
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

/** One answer of the service before it goes over the wire. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	/** JSON, unless `text` is given. */
	body: unknown;
	/** The body as it is sent, for what is no JSON or has been serialized before. */
	text?: () => string;
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
	return { status, headers, body };
}

export function html(status: number, page: string): Answer {
	const headers = { 'content-type': 'text/html; charset=UTF-8' };
	return { status, headers, body: undefined, text: () => page };
}

/** Error shape (b) of section "Errors": success and message. */
export function failure(status: number, message: string): Answer {
	return json(status, { success: false, message });
}

/** Error shape (a): success, message and a list of errors. */
export function failureList(status: number, message: string, errors: string[]): Answer {
	return json(status, { success: false, message, errors });
}

/** The keyed form that real deployments send: dotted field, each an array of texts. */
export function failureByField(message: string, errors: Record<string, string[]>): Answer {
	return json(422, { message, errors });
}

/** The text that goes over the wire. */
export function bodyText(answer: Answer): string {
	if (answer.text) return answer.text();
	return answer.body === undefined ? '' : JSON.stringify(answer.body);
}

export function withBody(answer: Answer, body: JsonObject): Answer {
	const { text: _replaced, ...rest } = answer;
	return { ...rest, body };
}

/** Writes the whole answer. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
	const text = bodyText(answer);
	begin(response, answer, { 'content-length': Buffer.byteLength(text) });
	response.end(text);
}

/** Announces the whole body, hands over a part of it and breaks the connection. */
export function sendCut(response: ServerResponse, answer: Answer, keep: number): void {
	const whole = Buffer.from(bodyText(answer), 'utf8');
	begin(response, answer, { 'content-length': whole.length });
	const part = whole.subarray(0, Math.min(whole.length - 1, Math.floor(whole.length * keep)));
	response.write(part, () => response.socket?.destroy());
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
