import type { ServiceError } from '../api/outcome';
import { isRetry } from '../once/execution';
import { Refusal } from '../output/errors';
import type { Run } from './run';

/** Refuses an item whose product or offer could not be looked up: what the catalog says is not guessed. */
export function notLookedUp({ context }: Run, what: string, error: ServiceError): Refusal {
	return new Refusal(`${what} could not be looked up in the catalog`, {
		advice: `${error.message}. Nothing was sent. Run this again later, or fill in what the catalog is asked for: the hash, the price and the title.`,
		outcome: isRetry(context) ? 'unknown' : 'notSent',
		answer: error.outcome,
	});
}
