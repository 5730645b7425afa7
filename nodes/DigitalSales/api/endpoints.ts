/** API document, Endpoints and Limits. */
export const ENDPOINTS = {
	'GET /products': { method: 'GET', requestsPerMinute: 20, timeoutMs: 60_000 },
	'POST /products/{hash}/offers': {
		method: 'POST',
		requestsPerMinute: undefined,
		timeoutMs: 60_000,
	},
	/** An early time-out would leave a charge that nobody knows about. */
	'POST /transactions': { method: 'POST', requestsPerMinute: undefined, timeoutMs: 120_000 },
	'GET /transactions/{hash}': { method: 'GET', requestsPerMinute: undefined, timeoutMs: 60_000 },
} as const;

export type Endpoint = keyof typeof ENDPOINTS;
