import type { Endpoint } from './endpoints';
import type { Situation } from './retryPolicy';
import type { ServiceWords } from './schemas/error';

/** Why a 2xx could not be used. */
export type UnreadableReason = 'html' | 'notJson' | 'empty' | 'tooLarge' | 'tooDeep' | 'otherShape';

export interface ServiceErrorFacts {
	endpoint: Endpoint;
	situation: Situation;
	/** True where a payment may have been made although no usable answer came. */
	outcomeUnknown: boolean;
	status?: number;
	/** The system code of a fault without an answer, for example `ECONNRESET`. */
	code?: string;
	unreadable?: UnreadableReason;
	/** Where a redirect pointed to: origin and path, never the query. */
	redirectedTo?: string;
	words: ServiceWords;
	/** How many times the request was sent. */
	tries: number;
}

/**
 * A request to the service that did not give what was asked for: plain chosen facts and no trace of
 * the request, so that nothing secret can travel with it.
 */
export class ServiceError extends Error {
	readonly facts: ServiceErrorFacts;

	constructor(facts: ServiceErrorFacts) {
		super(`${facts.endpoint}: ${facts.situation}`);
		this.name = 'ServiceError';
		this.facts = facts;
	}
}
