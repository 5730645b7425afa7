import type { JsonObject } from '../http/json';

/** One answer of the service before it goes over the wire. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	/** JSON, unless `text` is given. */
	body: unknown;
	/** The body as it is sent, for what is no JSON or has been serialized before. */
	text?: () => string;
	/** After the last byte has been handed over. */
	afterSent?: () => void;
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
