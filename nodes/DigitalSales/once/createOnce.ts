import type { Created, Creation } from './creation';
import { GuardedCreation } from './guardedCreation';
import { stopsOthers } from './refusals';

/**
 * Makes something, or returns what was made before. Before anything is sent, the attempt is recorded in
 * the process, the execution and n8n's database; only a provable refusal takes it out again.
 *
 * @throws Refusal if it may have been made before, or cannot be recorded; nothing is sent
 * @throws ServiceError, CanceledError
 */
export async function createOnce<T>(creation: Creation<T>): Promise<Created<T>> {
	return await new GuardedCreation(creation).make();
}

/**
 * Whether an earlier attempt is known, so that {@link createOnce} gives what it made or refuses, and
 * sends nothing new without the user's code or unless what it made is void.
 */
export async function isKnown<T>(creation: Creation<T>): Promise<boolean> {
	return await new GuardedCreation(creation).isKnown();
}

/**
 * Refuses what this process knows to be in doubt before any other item of the run is sent: those would
 * be made again whenever somebody tries the run again. Does nothing where the others go on without it.
 *
 * @throws Refusal, as {@link createOnce} would, which also knows what n8n's database knows
 */
export async function refuseDoubt<T>(creation: Creation<T>): Promise<void> {
	if (stopsOthers(creation)) await new GuardedCreation(creation).refuseDoubt();
}
