import type { RequestOutcome } from './retryPolicy';
import type { ServiceErrorFacts } from './serviceError';

/** What the node refuses to do itself, before anything is sent. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly facts: {
			/** What to do now, in whole sentences. */
			advice: string;
			/** Unknown where an earlier attempt may have done it. */
			outcome: RequestOutcome;
			/** What the service answered to a read that was to decide it. */
			answer?: ServiceErrorFacts;
		},
	) {
		super(message);
		this.name = 'Refusal';
	}
}
