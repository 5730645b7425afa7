/** API document, Endpoints. */
export const ENDPOINTS = {
	'GET /products': { method: 'GET', timeoutMs: 60_000 },
	'GET /transactions/{hash}': { method: 'GET', timeoutMs: 60_000 },
	'POST /products/{hash}/offers': { method: 'POST', timeoutMs: 60_000 },
	/** An early time-out would leave a charge that nobody knows about. */
	'POST /transactions': { method: 'POST', timeoutMs: 120_000 },
} as const;

export type Endpoint = keyof typeof ENDPOINTS;

/** API document, Limits. It states none for other endpoints. */
export const REQUESTS_PER_MINUTE: Partial<Record<Endpoint, number>> = { 'GET /products': 20 };
