/** Of the four endpoints. */
export const BASE_PATH = '/api/public/v1';

export const DEFAULTS = {
	/** 0: any free port. */
	port: 0,
	products: 137,
	/** A request for more per page gets this many. */
	maxPageSize: 100,
	/** GET /products (section "Limits"); null for no limit. */
	requestsPerMinute: 20 as number | null,
	/** GET /transactions/{hash}; the document names no number. */
	readsPerMinute: null as number | null,
	/** Before each API answer. */
	latencyMs: 0,
	apiToken: 'test-api-token-1234567890',
	bodyApiToken: 'test-body-token-0987654321',
	/** Before each re-send of a notice. */
	resendAfterSeconds: [5, 30, 120, 600, 3600],
	/** `bare` as the document shows; `absent` saves the time of drawing. */
	qrImage: 'bare' as 'bare' | 'absent',
};

export type Settings = typeof DEFAULTS;
export type SandboxOptions = Partial<Settings>;
