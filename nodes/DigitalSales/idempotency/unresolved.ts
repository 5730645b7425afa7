import type { NotSentError } from '../output/errors';
import { isRetry } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import type { KeyedCreation } from './creation';
import type { Described } from './overrideCodes';
import { refuseUnresolved, type Unresolved } from './refusals';

/**
 * Describes the unresolved attempts that have claimed keys of a request in n8n's database. The keys may come from
 * different attempts. A slot counts only in a Retry.
 */
export function findUnresolved<T>(
	{ creation, keys }: KeyedCreation<T>,
	claimed: readonly string[],
): Unresolved[] {
	const { slotKey, orderKey, unresolvedKey } = keys;
	const unresolved: Unresolved[] = [];
	const isSlotClaimed = claimed.includes(slotKey) && isRetry(creation.context);
	if (claimed.includes(unresolvedKey) || isSlotClaimed) {
		unresolved.push({ isSame: true, keys: [unresolvedKey] });
	}
	if (orderKey !== undefined && claimed.includes(orderKey)) {
		const { orderReference } = creation;
		unresolved.push({ isSame: false, orderReference, keys: [orderKey] });
	}
	return unresolved;
}

/** Returns the position that an entered code allows, if the error with the code described all of these attempts. */
export async function findAllowedPosition<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<number | undefined> {
	const { enteredCodes } = creation;
	if (enteredCodes === undefined) return undefined;
	return await codes.findAllowedPosition(enteredCodes, listDescribed(unresolved, keys.orderKey));
}

/**
 * Builds the refusal of a request, with the code that allows the request.
 *
 * @param differences of the charges whose hashes a person entered
 */
export async function refuseWithCode<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
	differences?: string[],
): Promise<NotSentError> {
	// If n8n's database fails, the error has no code.
	const code = await codes
		.nextCode(listDescribed(unresolved, keys.orderKey))
		.catch(() => undefined);
	const { context, kind, about } = creation;
	if (code !== undefined && isTool(context)) {
		context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
	}
	return refuseUnresolved(creation, unresolved, code, differences);
}

function listDescribed(unresolved: readonly Unresolved[], orderKey = ''): Described[] {
	return unresolved.flatMap(({ isSame, keys }): Described[] => {
		const isOrder = keys.includes(orderKey);
		if (!isSame) return [isOrder ? 'order' : 'other'];
		return isOrder ? ['same', 'order'] : ['same'];
	});
}
