import {
	type Answer,
	escapeHtml,
	failureAnswer,
	htmlAnswer,
	isRecord,
	jsonAnswer,
	foreignPage,
	tooManyRequests,
} from './http';

export type Endpoint =
	| 'GET /products'
	| 'POST /products/{hash}/offers'
	| 'POST /transactions'
	| 'GET /transactions/{hash}';

interface FaultBase {
	/** Any endpoint by default. */
	endpoint?: Endpoint;
	/** How many matching requests or notifications the fault strikes; 1 by default. */
	times?: number | 'always';
	/** How many matching requests pass before the fault strikes; 0 by default. */
	after?: number;
	/** Limits the fault to requests with these query parameters, e.g. `{ page: '3' }`. */
	query?: Record<string, string>;
	/** Whether the platform processes the request before it fails. PROCESSED has the defaults. */
	processed?: boolean;
}

type Nothing = object;

/** Faults that replace the answer. At most one of them strikes a request: the first that was added. */
interface Answering {
	/** Sends a text body unchanged. With `isCut` the connection breaks in the middle of the body. */
	status: {
		status: number;
		body?: unknown;
		headers?: Record<string, string>;
		isCut?: boolean;
	};
	resetBeforeProcessing: Nothing;
	resetAfterProcessing: Nothing;
	/** Sends half of the body: `cut` (default) breaks the connection, `short` announces the shorter length. */
	truncatedBody: { mode?: 'cut' | 'short' };
	/** Sends the body of the real answer in small pieces over `ms`. */
	slowBody: { ms: number };
	/** Sends a body without an end, until the client hangs up. */
	endlessBody: Nothing;
	/** Sends a web page; status 200 by default. */
	html: { status?: number };
	/** Sends a debug page with the request's headers and body, including tokens; status 500 by default. */
	echoRequest: { status?: number; format?: 'json' | 'html' };
	successFalse: { message?: string };
	/** Sends a body that is not JSON with the header of JSON. */
	notJson: { text?: string };
	emptyBody: Nothing;
	/** Status 302 by default. */
	redirect: { to: string; status?: 301 | 302 | 303 | 307 | 308 };
	/** Sends a 429 with Retry-After (1 second by default) or without. */
	retryAfter: { format?: 'absent'; seconds?: number };
}

/** Faults that change the work of the platform, or its real answer. */
interface Changing {
	/** Waits before the work. */
	delay: { ms: number };
	/** Waits between the work and the answer. */
	delayAfterProcessing: { ms: number };
	/** Wraps the answer in `{success: true, data}`. */
	wrapData: Nothing;
	/** Replaces or removes fields of the answer's first level, e.g. the hash. */
	patchBody: { set?: Record<string, unknown>; remove?: string[] };
	/** Refuses the charge: the answer is still a 201, with payment_status refused and pix null. */
	refused: Nothing;
	/** Does not send a notification. Strikes notifications, not requests. */
	lostNotice: Nothing;
}

type FaultsOf<K> = { [Kind in keyof K]: FaultBase & { kind: Kind } & K[Kind] }[keyof K];
export type AnswerFault = FaultsOf<Answering>;
export type Fault = AnswerFault | FaultsOf<Changing>;
export type FaultKind = Fault['kind'];
type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>;

/** Whether the platform by default processes the request before the fault replaces the answer. */
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

/** The faults that strike one request: at most one of each kind, and one that replaces the answer. */
export class StruckFaults {
	constructor(private readonly all: readonly Fault[]) {}

	get answer(): AnswerFault | undefined {
		return this.all.find(isAnswer);
	}

	of<K extends FaultKind>(kind: K): FaultOf<K> | undefined {
		return this.all.find((fault): fault is FaultOf<K> => fault.kind === kind);
	}
}

/** Keeps the added faults and picks those that strike a request. */
export class FaultBook {
	private entries: Array<{ fault: Fault; left: number; skip: number }> = [];

	add(fault: Fault): void {
		const left = fault.times === 'always' ? Infinity : (fault.times ?? 1);
		this.entries.push({ fault, left, skip: fault.after ?? 0 });
	}

	/** Whether a fault of this kind waits for its request. */
	has(kind: FaultKind): boolean {
		return this.entries.some(({ fault }) => fault.kind === kind);
	}

	clear(): void {
		this.entries = [];
	}

	strikeRequest(endpoint: Endpoint, query: Record<string, string>): StruckFaults {
		return this.strikeFaults(
			(fault) =>
				fault.kind !== 'lostNotice' &&
				(fault.endpoint ?? endpoint) === endpoint &&
				Object.entries(fault.query ?? {}).every(([name, value]) => query[name] === value),
		);
	}

	/** Whether the next notification is lost. */
	strikeNotice(): boolean {
		return this.strikeFaults(({ kind }) => kind === 'lostNotice').of('lostNotice') !== undefined;
	}

	private strikeFaults(isMeant: (fault: Fault) => boolean): StruckFaults {
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

/** The request as received, including tokens, which `echoRequest` must be able to leak. */
export interface RawRequest {
	method: string;
	url: string;
	headers: NodeJS.Dict<string | string[]>;
	body: unknown;
}

/** The answer that a fault puts in place of the real answer; undefined if the fault changes how the real one is sent. */
export function makeFaultAnswer(fault: AnswerFault, request: RawRequest): Answer | undefined {
	switch (fault.kind) {
		case 'status': {
			const { status, body = { success: false, message: `Simulated status ${status}` } } = fault;
			const type = typeof body === 'string' ? 'text/plain; charset=UTF-8' : 'application/json';
			return jsonAnswer(status, body, { 'content-type': type, ...lowerCaseNames(fault.headers) });
		}
		case 'html':
			return htmlAnswer(
				fault.status ?? 200,
				foreignPage('Serviço indisponível', 'Estamos em manutenção. Volte em alguns minutos.'),
			);
		case 'echoRequest': {
			const { status = 500, format } = fault;
			if (format !== 'html')
				return jsonAnswer(status, { success: false, message: 'Debug', request });
			const text = escapeHtml(JSON.stringify(request, null, 2));
			return htmlAnswer(status, `<!DOCTYPE html><title>Debug</title><pre>${text}</pre>`);
		}
		case 'successFalse':
			return failureAnswer(200, fault.message ?? 'Não foi possível concluir a operação.');
		case 'notJson':
			return jsonAnswer(200, fault.text ?? 'OK <!-- {"hash": -->');
		case 'emptyBody':
			return jsonAnswer(200, undefined);
		case 'redirect': {
			const page = htmlAnswer(fault.status ?? 302, foreignPage('Redirecting', fault.to));
			return { ...page, headers: { ...page.headers, location: fault.to } };
		}
		case 'retryAfter':
			return tooManyRequests(fault.format ? undefined : (fault.seconds ?? 1));
		default:
			return undefined;
	}
}

/** Applies the faults that change the real answer. */
export function applyAnswerFaults(answer: Answer, faults: StruckFaults): Answer {
	let { body } = answer;
	const patch = faults.of('patchBody');
	if (patch && isRecord(body)) {
		body = { ...body, ...patch.set };
		for (const name of patch.remove ?? []) if (isRecord(body)) delete body[name];
	}
	if (faults.of('wrapData') && answer.status < 300) body = { success: true, data: body };
	return { ...answer, body };
}

function lowerCaseNames(headers: Record<string, string> = {}): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
	);
}
