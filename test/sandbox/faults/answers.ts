import { failure, failureList, html, json, withBody, type Answer } from '../api/answer';
import { escapeHtml, strangePage } from '../http/htmlPages';
import { isRecord } from '../http/json';
import type { StruckFaults } from './book';
import type { AnswerFault, EchoRequestFault, RetryAfterFault, StatusFault } from './types';

const YEAR_SECONDS = 31_536_000;
const LIMIT_HEADERS = [
	'retry-after',
	'x-ratelimit-limit',
	'x-ratelimit-remaining',
	'x-ratelimit-reset',
];

/** The request as it came, tokens included: an echo must be able to give them away. */
export interface RawRequest {
	method: string;
	url: string;
	headers: NodeJS.Dict<string | string[]>;
	body: unknown;
}

/** The kinds that are an answer, not something done to the connection or to a real answer. */
type WholeAnswer = Exclude<
	AnswerFault,
	{
		kind:
			| 'resetBeforeProcessing'
			| 'resetAfterProcessing'
			| 'truncatedBody'
			| 'slowBody'
			| 'endlessBody';
	}
>;

export function answerOf(fault: WholeAnswer, request: RawRequest): Answer {
	switch (fault.kind) {
		case 'status':
			return statusAnswer(fault);
		case 'html':
			return html(
				fault.status ?? 200,
				strangePage('Serviço indisponível', 'Estamos em manutenção. Volte em alguns minutos.'),
			);
		case 'echoRequest':
			return echo(fault, request);
		case 'successFalse': {
			const { status = 200, message = 'Não foi possível concluir a operação.', errors } = fault;
			return errors ? failureList(status, message, errors) : failure(status, message);
		}
		case 'notJson': {
			const text = fault.text ?? 'OK <!-- {"hash": -->';
			const headers = { 'content-type': fault.contentType ?? 'application/json' };
			return { ...json(fault.status ?? 200, undefined, headers), text: () => text };
		}
		case 'emptyBody':
			return json(fault.status ?? 200, undefined);
		case 'redirect':
			return {
				...html(fault.status ?? 302, strangePage('Redirecting', fault.to)),
				headers: { 'content-type': 'text/html; charset=UTF-8', location: fault.to },
			};
		case 'retryAfter':
			return tooMany(fault);
	}
}

/** Applies the faults that change a real answer. */
export function changeAnswer(answer: Answer, faults: StruckFaults): Answer {
	let changed = answer;
	const patch = faults.of('patchBody');
	if (patch && isRecord(changed.body)) {
		const body = { ...changed.body, ...patch.set };
		for (const name of patch.remove ?? []) delete body[name];
		changed = withBody(changed, body);
	}
	if (faults.of('wrapData') && changed.status < 300) {
		changed = withBody(changed, { success: true, data: changed.body });
	}
	const limits = faults.of('rateLimitHeaders');
	if (limits) {
		const headers = { ...changed.headers };
		const all = !limits.remove && !limits.set;
		for (const name of limits.remove ?? (all ? LIMIT_HEADERS : [])) {
			delete headers[name.toLowerCase()];
		}
		for (const [name, value] of Object.entries(limits.set ?? {})) {
			headers[name.toLowerCase()] = value;
		}
		changed = { ...changed, headers };
	}
	return changed;
}

function statusAnswer(fault: StatusFault): Answer {
	const body = fault.body ?? { success: false, message: `Simulated status ${fault.status}` };
	const headers = lowerNames(fault.headers ?? {});
	if (typeof body !== 'string') return json(fault.status, body, headers);
	const type = { 'content-type': 'text/plain; charset=UTF-8' };
	return { ...json(fault.status, undefined, { ...type, ...headers }), text: () => body };
}

function echo({ status = 500, format = 'json' }: EchoRequestFault, request: RawRequest): Answer {
	const { method, url, headers, body } = request;
	const shown = { method, url, headers, body };
	if (format === 'json') return json(status, { success: false, message: 'Debug', request: shown });
	const text = JSON.stringify(shown, null, 2);
	return html(status, `<!DOCTYPE html><title>Debug</title><pre>${escapeHtml(text)}</pre>`);
}

function tooMany({ format = 'seconds', seconds = 1 }: RetryAfterFault): Answer {
	const headers: Record<string, string> = {};
	const wait = format === 'huge' ? YEAR_SECONDS : seconds;
	if (format === 'http-date') {
		// Rounded up: a date has no fractions, and must not lie before the moment it stands for.
		const moment = Math.ceil((Date.now() + wait * 1000) / 1000) * 1000;
		headers['retry-after'] = new Date(moment).toUTCString();
	} else if (format === 'garbage') headers['retry-after'] = 'soon';
	else if (format !== 'absent') headers['retry-after'] = String(wait);
	if (format === 'seconds' || format === 'huge') {
		headers['x-ratelimit-limit'] = '20';
		headers['x-ratelimit-remaining'] = '0';
		headers['x-ratelimit-reset'] = String(Math.ceil(Date.now() / 1000) + wait);
	}
	return json(429, { message: 'Too Many Attempts.' }, headers);
}

function lowerNames(headers: Record<string, string>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
	);
}
