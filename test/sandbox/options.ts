import type { NoticeShape, QrImageStyle } from './shapes';

export interface SandboxOptions {
	/** Default 0: any free port. */
	port?: number;
	/**
	 * Default 1; at 60 a sandbox minute takes one real second. Rate-limit windows and re-send
	 * schedules follow it. Headers speak real time: the clock of the client is not scaled.
	 */
	clockScale?: number;
	/** Default 137, seeded and deterministic. */
	products?: number;
	/** Default 100: a request for more per page gets this many. */
	maxPageSize?: number;
	/** GET /products; default 20 (section "Limits"), null for no limit. */
	requestsPerMinute?: number | null;
	/** GET /transactions/{hash}; the document names no number, so the default is null. */
	readsPerMinute?: number | null;
	/** `fixed` (default) opens a window with its first request, as Laravel's throttle does. */
	rateLimitWindow?: 'fixed' | 'sliding';
	/** Default true; false leaves Retry-After and X-RateLimit-* out of every answer. */
	rateLimitHeaders?: boolean;
	/** Default 0 ms, before each API answer. */
	latencyMs?: number;
	apiToken?: string;
	bodyApiToken?: string;
	/** As a deployment that calls it otherwise: the document does not show the names; default false. */
	ignoresSearch?: boolean;
	/** Default `envelope`. */
	noticeShape?: NoticeShape;
	/** Sandbox seconds before each re-send; default 5, 30, 120, 600, 3600. */
	resendAfterSeconds?: number[];
	/** POST /transactions answers `{success, data}`; default false. */
	wrapTransactions?: boolean;
	/** Validation errors keyed by field instead of a list; default false. */
	errorsByField?: boolean;
	/** Default `bare`, as the document shows. */
	qrImage?: QrImageStyle;
}

export type Settings = Required<SandboxOptions>;

/** Of the four endpoints. */
export const BASE_PATH = '/api/public/v1';

/** Fills in the defaults. */
export function resolveOptions(options: SandboxOptions): Settings {
	return {
		port: options.port ?? 0,
		clockScale: options.clockScale ?? 1,
		products: options.products ?? 137,
		maxPageSize: options.maxPageSize ?? 100,
		requestsPerMinute: options.requestsPerMinute === undefined ? 20 : options.requestsPerMinute,
		readsPerMinute: options.readsPerMinute ?? null,
		rateLimitWindow: options.rateLimitWindow ?? 'fixed',
		rateLimitHeaders: options.rateLimitHeaders ?? true,
		latencyMs: options.latencyMs ?? 0,
		apiToken: options.apiToken ?? 'test-api-token-1234567890',
		bodyApiToken: options.bodyApiToken ?? 'test-body-token-0987654321',
		ignoresSearch: options.ignoresSearch ?? false,
		noticeShape: options.noticeShape ?? 'envelope',
		resendAfterSeconds: options.resendAfterSeconds ?? [5, 30, 120, 600, 3600],
		wrapTransactions: options.wrapTransactions ?? false,
		errorsByField: options.errorsByField ?? false,
		qrImage: options.qrImage ?? 'bare',
	};
}
