interface EndpointFacts {
	method: 'GET' | 'POST';
	timeoutMs: number;
	/** Undefined if not documented. */
	requestsPerMinute?: number;
	/** Of these. */
	leftForUrgent?: number;
}

export type Endpoint =
	| 'GET /products'
	| 'POST /products/{hash}/offers'
	| 'POST /transactions'
	| 'GET /transactions/{hash}';

/** API document, Endpoints and Limits. */
export const ENDPOINTS: Readonly<Record<Endpoint, EndpointFacts>> = {
	/** A list of the whole catalog leaves room for the prices of charges that start meanwhile. */
	'GET /products': { method: 'GET', timeoutMs: 60_000, requestsPerMinute: 20, leftForUrgent: 5 },
	'POST /products/{hash}/offers': { method: 'POST', timeoutMs: 60_000 },
	/** An early time-out would leave a charge that nobody knows about. */
	'POST /transactions': { method: 'POST', timeoutMs: 120_000 },
	'GET /transactions/{hash}': { method: 'GET', timeoutMs: 60_000 },
};
