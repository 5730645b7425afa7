import type { Refusal } from '../output/errors';
import { isRetry } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import type { KeyedCreation } from './creation';
import type { Described } from './overrideCodes';
import { refuseUnresolved, type Unresolved } from './refusals';

/**
 * Finds out what is unresolved from the keys of a request that n8n's database has. The keys may come from different
 * attempts. A slot counts in a Retry only.
 */
export function unresolvedBy<T>(
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

/** The position of the sequence that an entered code allows, if its refusal described all of this. */
export async function positionFor<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<number | undefined> {
	const { enteredCodes } = creation;
	if (enteredCodes === undefined) return undefined;
	return await codes.positionAllowedBy(enteredCodes, describe(unresolved, keys.orderKey));
}

/** Refuses a request because of what is unresolved, and shows the code that allows it. */
export async function refuse<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<Refusal> {
	// The error says what may exist even if n8n's database gives no code for it.
	const code = await codes.nextCode(describe(unresolved, keys.orderKey)).catch(() => undefined);
	const { context, kind, about } = creation;
	if (code !== undefined && isTool(context)) {
		context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
	}
	return refuseUnresolved(creation, unresolved, code);
}

function describe(unresolved: readonly Unresolved[], orderKey = ''): Described[] {
	return unresolved.flatMap(({ isSame, keys }): Described[] => {
		const isOrder = keys.includes(orderKey);
		if (!isSame) return [isOrder ? 'order' : 'other'];
		return isOrder ? ['same', 'order'] : ['same'];
	});
}
