import type { RequestOutcome } from './retryPolicy';

/** What the node refuses to do itself, before anything is sent. */
export class Refusal extends Error {
	constructor(
		message: string,
		readonly facts: {
			/** What to do now, in whole sentences. */
			advice: string;
			/** Unknown where an earlier attempt may have done it. */
			outcome: RequestOutcome;
		},
	) {
		super(message);
		this.name = 'Refusal';
	}
}
