export const ENDPOINTS = [
	'GET /products',
	'POST /products/{hash}/offers',
	'POST /transactions',
	'GET /transactions/{hash}',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

interface FaultBase {
	/** Default `*`; notices are not requests, so duplicateNotice and lostNotice ignore it. */
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
export const PAGINATION_LIES = [
	'lastPageTooLow',
	'lastPageTooHigh',
	'metaMissing',
	'metaAndLinksMissing',
	'numbersAsStrings',
	'repeatedPage',
	'ignoresPage',
	'emptyPage',
	'neverEnding',
	'shrinking',
] as const;
export type PaginationLie = (typeof PAGINATION_LIES)[number];
/**
 * Usually wanted with `times: 'always'`. After a `repeatedPage` or `emptyPage` the catalog goes
 * on one page later, so a reader who goes on to the last page gets every product.
 */
export interface PaginationFault extends FaultBase {
	kind: 'paginationLies';
	lie: PaginationLie;
	/** The page at which repeatedPage, emptyPage and shrinking begin; default 2. */
	page?: number;
	/** neverEnding: invent new hashes forever instead of starting over with the catalog. */
	fresh?: boolean;
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
/** A notice is posted, and answered, before the create call answers. */
export interface EarlyNoticeFault extends FaultBase {
	kind: 'earlyNotice';
	/** The status it speaks of; default is the one after creation. */
	status?: string;
	/** GET /transactions/{hash} says 404 until the create call has answered; default false. */
	hidden?: boolean;
}
/** The notice goes out `copies` times more (default 1). */
export interface DuplicateNoticeFault extends FaultBase {
	kind: 'duplicateNotice';
	copies?: number;
	/** All at the same time instead of one after another; default false. */
	together?: boolean;
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
	| PaginationFault
	| ErrorsByFieldFault
	| RefusedFault
	| EarlyNoticeFault;
export type NoticeFault = DuplicateNoticeFault | LostNoticeFault;

export type Fault = AnswerFault | ChangingFault | NoticeFault;
export type FaultKind = Fault['kind'];
