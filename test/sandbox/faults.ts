import {
	type Answer,
	escapeHtml,
	failure,
	failureList,
	html,
	isRecord,
	json,
	strangePage,
	withBody,
} from './http';

export type Endpoint =
	| 'GET /products'
	| 'POST /products/{hash}/offers'
	| 'POST /transactions'
	| 'GET /transactions/{hash}';

interface FaultBase {
	/** Default `*`; notices are not requests, so lostNotice ignores it. */
	endpoint?: Endpoint | '*';
	/** How many matching requests (or notices) it strikes; default 1. */
	times?: number | 'always';
	/** Matching requests let through first; default 0. */
	after?: number;
	/** Strikes only requests with these query parameters, e.g. `{ page: '3' }`. */
	query?: Record<string, string>;
}

/** These stand in for the answer; at most one of them strikes a request, in the order added. */
interface Answering extends FaultBase {
	/** Whether the service does the work before it fails; the default depends on the kind. */
	processed?: boolean;
}

/** Any status; `processed` defaults to false. A body that is text is sent as it is. */
export interface StatusFault extends Answering {
	kind: 'status';
	status: number;
	body?: unknown;
	headers?: Record<string, string>;
	/** The connection breaks in the middle of the body. */
	isCut?: boolean;
}
export interface ResetBeforeFault extends FaultBase {
	kind: 'resetBeforeProcessing';
}
export interface ResetAfterFault extends FaultBase {
	kind: 'resetAfterProcessing';
}
/** Processed unless told otherwise. */
export interface TruncatedBodyFault extends Answering {
	kind: 'truncatedBody';
	/** How much of the body arrives, 0 to 1; default 0.5. */
	keep?: number;
	/** `cut` (default) breaks the connection; `short` announces the shorter length. */
	mode?: 'cut' | 'short';
}
/** The real answer, its body in small pieces over a time, never silent for long; processed unless told otherwise. */
export interface SlowBodyFault extends Answering {
	kind: 'slowBody';
	/** Real ms from the headers to the last piece. */
	ms: number;
}
/** Headers, and a body that goes on until the client hangs up; processed unless told otherwise. */
export interface EndlessBodyFault extends Answering {
	kind: 'endlessBody';
}
/** `processed` defaults to false, `status` to 200. */
export interface HtmlFault extends Answering {
	kind: 'html';
	status?: number;
}
/** A debug page: the answer repeats headers and body of the request, tokens included. */
export interface EchoRequestFault extends Answering {
	kind: 'echoRequest';
	/** Default 500. */
	status?: number;
	/** Default `json`: message, headers and body; `html` is a page. */
	format?: 'json' | 'html';
}
/** `success: false` under a 2xx; `processed` defaults to false. */
export interface SuccessFalseFault extends Answering {
	kind: 'successFalse';
	/** Default 200. */
	status?: number;
	message?: string;
	errors?: string[];
}
/** A 2xx that is no JSON; processed unless told otherwise. */
export interface NotJsonFault extends Answering {
	kind: 'notJson';
	status?: number;
	text?: string;
	/** Default application/json: the header promises what the body does not keep. */
	contentType?: string;
}
/** Nothing in the body; processed unless told otherwise; `status` defaults to 200. */
export interface EmptyBodyFault extends Answering {
	kind: 'emptyBody';
	status?: number;
}
/** `processed` defaults to false, `status` to 302. */
export interface RedirectFault extends Answering {
	kind: 'redirect';
	to: string;
	status?: 301 | 302 | 303 | 307 | 308;
}
/** A 429; `processed` defaults to false. */
export interface RetryAfterFault extends Answering {
	kind: 'retryAfter';
	/** Default `seconds`. `huge` is a year. */
	format?: 'seconds' | 'http-date' | 'absent' | 'huge' | 'garbage';
	/** Real seconds; default 1. */
	seconds?: number;
}

export type AnswerFault =
	| StatusFault
	| ResetBeforeFault
	| ResetAfterFault
	| TruncatedBodyFault
	| SlowBodyFault
	| EndlessBodyFault
	| HtmlFault
	| EchoRequestFault
	| SuccessFalseFault
	| NotJsonFault
	| EmptyBodyFault
	| RedirectFault
	| RetryAfterFault;

/** Real ms before the work. */
export interface DelayFault extends FaultBase {
	kind: 'delay';
	ms: number;
}
/** Real ms between the work and the answer. */
export interface DelayAfterFault extends FaultBase {
	kind: 'delayAfterProcessing';
	ms: number;
}
/** The answer of the service as `{success: true, data}`. */
export interface WrapDataFault extends FaultBase {
	kind: 'wrapData';
}
/** The real answer with fields replaced or taken out (first level), e.g. another hash. */
export interface PatchBodyFault extends FaultBase {
	kind: 'patchBody';
	set?: Record<string, unknown>;
	remove?: string[];
}
/** Without `set` and `remove` all Retry-After and X-RateLimit-* headers go. */
export interface RateLimitHeadersFault extends FaultBase {
	kind: 'rateLimitHeaders';
	remove?: string[];
	set?: Record<string, string>;
}
/** Validation errors as an object keyed by field; with `errors`, a refusal of any request. */
export interface ErrorsByFieldFault extends FaultBase {
	kind: 'errorsByField';
	errors?: Record<string, string[]>;
}
/** The charge is refused: still 201, with payment_status refused and pix null. */
export interface RefusedFault extends FaultBase {
	kind: 'refused';
}
/** The notice is never sent, nor re-sent. */
export interface LostNoticeFault extends FaultBase {
	kind: 'lostNotice';
}

export type ChangingFault =
	| DelayFault
	| DelayAfterFault
	| WrapDataFault
	| PatchBodyFault
	| RateLimitHeadersFault
	| ErrorsByFieldFault
	| RefusedFault;

export type Fault = AnswerFault | ChangingFault | LostNoticeFault;
export type FaultKind = Fault['kind'];

type Family = 'answer' | 'change' | 'notice';

const FAMILIES: Record<FaultKind, Family> = {
	status: 'answer',
	resetBeforeProcessing: 'answer',
	resetAfterProcessing: 'answer',
	truncatedBody: 'answer',
	slowBody: 'answer',
	endlessBody: 'answer',
	html: 'answer',
	echoRequest: 'answer',
	successFalse: 'answer',
	notJson: 'answer',
	emptyBody: 'answer',
	redirect: 'answer',
	retryAfter: 'answer',
	delay: 'change',
	delayAfterProcessing: 'change',
	wrapData: 'change',
	patchBody: 'change',
	rateLimitHeaders: 'change',
	errorsByField: 'change',
	refused: 'change',
	lostNotice: 'notice',
};

function isAnswerFault(fault: Fault): fault is AnswerFault {
	return FAMILIES[fault.kind] === 'answer';
}

function isChangingFault(fault: Fault): fault is ChangingFault {
	return FAMILIES[fault.kind] === 'change';
}

/** Whether the service does its work although this fault takes the place of its answer. */
export function isProcessed(fault: AnswerFault): boolean {
	switch (fault.kind) {
		case 'resetBeforeProcessing':
			return false;
		case 'resetAfterProcessing':
			return true;
		case 'truncatedBody':
		case 'slowBody':
		case 'endlessBody':
		case 'notJson':
		case 'emptyBody':
			return fault.processed ?? true;
		default:
			return fault.processed ?? false;
	}
}

interface Entry {
	readonly fault: Fault;
	left: number;
	skip: number;
}

/** The faults that strike one request: at most one of each kind, and one answer in all. */
export class StruckFaults {
	constructor(private readonly all: readonly (AnswerFault | ChangingFault)[]) {}

	get answer(): AnswerFault | undefined {
		return this.all.find(isAnswerFault);
	}

	of<K extends ChangingFault['kind']>(kind: K): Extract<ChangingFault, { kind: K }> | undefined {
		return this.all.find(
			(fault): fault is Extract<ChangingFault, { kind: K }> => fault.kind === kind,
		);
	}

	get kinds(): string[] {
		return this.all.map((fault) => fault.kind);
	}
}

/** Keeps the faults switched on and says which of them strike. */
export class FaultBook {
	private entries: Entry[] = [];

	add(fault: Fault): void {
		const times = fault.times ?? 1;
		const left = times === 'always' ? Infinity : times;
		this.entries.push({ fault, left, skip: fault.after ?? 0 });
	}

	clear(): void {
		this.entries = [];
	}

	strikeRequest(endpoint: Endpoint, query: Record<string, string>): StruckFaults {
		const struck: Array<AnswerFault | ChangingFault> = [];
		for (const entry of this.entries) {
			const { fault } = entry;
			if (fault.kind === 'lostNotice' || !matches(fault, endpoint, query)) continue;
			if (this.spare(entry)) continue;
			const group = isAnswerFault(fault) ? struck.some(isAnswerFault) : false;
			if (group || struck.some((other) => other.kind === fault.kind)) continue;
			if (isAnswerFault(fault) || isChangingFault(fault)) struck.push(fault);
			entry.left -= 1;
		}
		this.forgetSpent();
		return new StruckFaults(struck);
	}

	/** Whether the next notice is lost. */
	strikeNotice(): boolean {
		const entry = this.entries.find(({ fault }) => fault.kind === 'lostNotice');
		if (!entry || this.spare(entry)) return false;
		entry.left -= 1;
		this.forgetSpent();
		return true;
	}

	private spare(entry: Entry): boolean {
		if (entry.skip <= 0) return false;
		entry.skip -= 1;
		return true;
	}

	private forgetSpent(): void {
		this.entries = this.entries.filter((entry) => entry.left > 0);
	}
}

function matches(fault: Fault, endpoint: Endpoint, query: Record<string, string>): boolean {
	const where = fault.endpoint ?? '*';
	if (where !== '*' && where !== endpoint) return false;
	return Object.entries(fault.query ?? {}).every(([name, value]) => query[name] === value);
}

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
