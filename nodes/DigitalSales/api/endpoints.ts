/**
 * The documented endpoints (API document, Endpoints 1 to 4), named as the document names them. If no
 * limit is documented, nothing is paced until the service itself answers 429.
 */
export const ENDPOINTS = {
	'GET /products': { method: 'GET', requestsPerMinute: 20, timeoutMs: 60_000 },
	'POST /products/{hash}/offers': {
		method: 'POST',
		requestsPerMinute: undefined,
		timeoutMs: 60_000,
	},
	/** Stopping early leaves a charge that nobody knows of. */
	'POST /transactions': { method: 'POST', requestsPerMinute: undefined, timeoutMs: 120_000 },
	'GET /transactions/{hash}': { method: 'GET', requestsPerMinute: undefined, timeoutMs: 60_000 },
} as const;

export type Endpoint = keyof typeof ENDPOINTS;
