import {
	type Answer,
	escapeHtml,
	failure,
	html,
	isRecord,
	json,
	strangePage,
	tooMany,
} from './http';

export type Endpoint =
	| 'GET /products'
	| 'POST /products/{hash}/offers'
	| 'POST /transactions'
	| 'GET /transactions/{hash}';

interface FaultBase {
	/** Default: any. */
	endpoint?: Endpoint;
	/** How many matching requests (or notices) it strikes; default 1. */
	times?: number | 'always';
	/** Matching requests let through first; default 0. */
	after?: number;
	/** Strikes only requests with these query parameters, e.g. `{ page: '3' }`. */
	query?: Record<string, string>;
	/** Whether the service does its work before it fails; the default is that of PROCESSED. */
	processed?: boolean;
}

type Nothing = object;

/** These stand in for the answer; at most one of them strikes a request, in the order added. */
interface Answering {
	/** A body that is text is sent as it is; `isCut`: the connection breaks in the middle of it. */
	status: {
		status: number;
		body?: unknown;
		headers?: Record<string, string>;
		isCut?: boolean;
	};
	resetBeforeProcessing: Nothing;
	resetAfterProcessing: Nothing;
	/** Half of the body: `cut` (default) breaks the connection; `short` announces that length. */
	truncatedBody: { mode?: 'cut' | 'short' };
	/** The real answer, its body in small pieces over so many ms, never silent for long. */
	slowBody: { ms: number };
	/** Headers, and a body that goes on until the client hangs up. */
	endlessBody: Nothing;
	/** A web page; default status 200. */
	html: { status?: number };
	/** A debug page that repeats headers and body of the request, tokens included; default status 500. */
	echoRequest: { status?: number; format?: 'json' | 'html' };
	successFalse: { message?: string };
	/** The header promises what the body does not keep. */
	notJson: { text?: string };
	emptyBody: Nothing;
	/** Default status 302. */
	redirect: { to: string; status?: 301 | 302 | 303 | 307 | 308 };
	/** A 429 with Retry-After, default 1 second, or without. */
	retryAfter: { format?: 'absent'; seconds?: number };
}

/** These change how the service works, or its real answer. */
interface Changing {
	/** Before the work. */
	delay: { ms: number };
	/** Between the work and the answer. */
	delayAfterProcessing: { ms: number };
	/** The answer as `{success: true, data}`. */
	wrapData: Nothing;
	/** The answer with fields replaced or taken out (first level), e.g. another hash. */
	patchBody: { set?: Record<string, unknown>; remove?: string[] };
	/** The answer with these headers. */
	headers: { set: Record<string, string> };
	/** The charge is refused: still 201, with payment_status refused and pix null. */
	refused: Nothing;
	/** A notice, not a request, is never sent. */
	lostNotice: Nothing;
}

type FaultsOf<K> = { [Kind in keyof K]: FaultBase & { kind: Kind } & K[Kind] }[keyof K];
export type AnswerFault = FaultsOf<Answering>;
export type Fault = AnswerFault | FaultsOf<Changing>;
export type FaultKind = Fault['kind'];
type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>;

/** Whether the service does its work by default although this takes the place of its answer. */
const PROCESSED: Record<keyof Answering, boolean> = {
	status: false,
	resetBeforeProcessing: false,
	resetAfterProcessing: true,
	truncatedBody: true,
	slowBody: true,
	endlessBody: true,
	html: false,
	echoRequest: false,
	successFalse: false,
	notJson: true,
	emptyBody: true,
	redirect: false,
	retryAfter: false,
};

const isAnswer = (fault: Fault): fault is AnswerFault => fault.kind in PROCESSED;

export const isProcessed = ({ kind, processed }: AnswerFault): boolean =>
	processed ?? PROCESSED[kind];

/** The faults that strike one request: at most one of each kind, and one answer in all. */
export class StruckFaults {
	constructor(private readonly all: readonly Fault[]) {}

	get answer(): AnswerFault | undefined {
		return this.all.find(isAnswer);
	}

	of<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
		return this.all.find((fault): fault is FaultOf<K> => fault.kind === kind);
	}
}

/** Keeps the faults switched on and says which of them strike. */
export class FaultBook {
	private entries: Array<{ fault: Fault; left: number; skip: number }> = [];

	add(fault: Fault): void {
		const left = fault.times === 'always' ? Infinity : (fault.times ?? 1);
		this.entries.push({ fault, left, skip: fault.after ?? 0 });
	}

	clear(): void {
		this.entries = [];
	}

	strikeRequest(endpoint: Endpoint, query: Record<string, string>): StruckFaults {
		return this.strike(
			(fault) =>
				fault.kind !== 'lostNotice' &&
				(fault.endpoint ?? endpoint) === endpoint &&
				Object.entries(fault.query ?? {}).every(([name, value]) => query[name] === value),
		);
	}

	/** Whether the next notice is lost. */
	strikeNotice(): boolean {
		return this.strike(({ kind }) => kind === 'lostNotice').of('lostNotice') !== undefined;
	}

	private strike(isMeant: (fault: Fault) => boolean): StruckFaults {
		const struck: Fault[] = [];
		for (const entry of this.entries.filter(({ fault }) => isMeant(fault))) {
			const { fault } = entry;
			if (entry.skip-- > 0) continue;
			if (struck.some(({ kind }) => kind === fault.kind)) continue;
			if (isAnswer(fault) && struck.some(isAnswer)) continue;
			struck.push(fault);
			entry.left -= 1;
		}
		this.entries = this.entries.filter(({ left }) => left > 0);
		return new StruckFaults(struck);
	}
}

/** The request as it came, tokens included: an echo must be able to give them away. */
export interface RawRequest {
	method: string;
	url: string;
	headers: NodeJS.Dict<string | string[]>;
	body: unknown;
}

/** The answer in the place of the real one; undefined if something is done to the real one. */
export function answerOf(fault: AnswerFault, request: RawRequest): Answer | undefined {
	switch (fault.kind) {
		case 'status': {
			const { status, body = { success: false, message: `Simulated status ${status}` } } = fault;
			const type = typeof body === 'string' ? 'text/plain; charset=UTF-8' : 'application/json';
			return json(status, body, { 'content-type': type, ...lowerNames(fault.headers) });
		}
		case 'html':
			return html(
				fault.status ?? 200,
				strangePage('Serviço indisponível', 'Estamos em manutenção. Volte em alguns minutos.'),
			);
		case 'echoRequest': {
			const { status = 500, format } = fault;
			if (format !== 'html') return json(status, { success: false, message: 'Debug', request });
			const text = escapeHtml(JSON.stringify(request, null, 2));
			return html(status, `<!DOCTYPE html><title>Debug</title><pre>${text}</pre>`);
		}
		case 'successFalse':
			return failure(200, fault.message ?? 'Não foi possível concluir a operação.');
		case 'notJson':
			return json(200, fault.text ?? 'OK <!-- {"hash": -->');
		case 'emptyBody':
			return json(200, undefined);
		case 'redirect': {
			const page = html(fault.status ?? 302, strangePage('Redirecting', fault.to));
			return { ...page, headers: { ...page.headers, location: fault.to } };
		}
		case 'retryAfter':
			return tooMany(fault.format ? undefined : (fault.seconds ?? 1));
		default:
			return undefined;
	}
}

/** Applies the faults that change a real answer. */
export function changeAnswer(answer: Answer, faults: StruckFaults): Answer {
	let { body } = answer;
	const patch = faults.of('patchBody');
	if (patch && isRecord(body)) {
		body = { ...body, ...patch.set };
		for (const name of patch.remove ?? []) if (isRecord(body)) delete body[name];
	}
	if (faults.of('wrapData') && answer.status < 300) body = { success: true, data: body };
	const changed = lowerNames(faults.of('headers')?.set);
	return { ...answer, body, headers: { ...answer.headers, ...changed } };
}

function lowerNames(headers: Record<string, string> = {}): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
	);
}
