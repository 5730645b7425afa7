/** The path before each of the four endpoints. */
export const BASE_PATH = '/api/public/v1';

export const DEFAULTS = {
	/** 0 for any free port. */
	port: 0,
	products: 137,
	/** The largest page. A request for more products gets this many. */
	maxPageSize: 100,
	/** Limit of GET /products (section "Limits"); null for no limit. */
	requestsPerMinute: 20 as number | null,
	/** Limit of GET /transactions/{hash}. The document names no number. */
	readsPerMinute: null as number | null,
	/** Delay before each API answer. */
	latencyMs: 0,
	apiToken: 'test-api-token-1234567890',
	bodyApiToken: 'test-body-token-0987654321',
	/** Delays before the repetitions of a notification. */
	resendAfterSeconds: [5, 30, 120, 600, 3600],
	/** `bare` is base64 as in the document; `absent` saves the time to draw the image. */
	qrImage: 'bare' as 'bare' | 'absent',
};

export type Settings = typeof DEFAULTS;
export type SandboxOptions = Partial<Settings>;
