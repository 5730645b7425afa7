import type { NotSentError } from '../output/errors';
import { isRetry } from '../n8n/retry';
import { isTool } from '../n8n/tool';
import type { KeyedCreation } from './creation';
import { type Described, parseHashes } from './overrideCodes';
import { unresolvedError, type Unresolved } from './refusals';

/** Describes the attempts of other owners that have these keys in n8n's database. A slot counts only in a Retry. */
export function buildUnresolved<T>(
	{ creation, keys }: KeyedCreation<T>,
	othersKeys: readonly string[],
): Unresolved[] {
	const { slotKey, orderKey, unresolvedKey } = keys;
	const unresolved: Unresolved[] = [];
	const isSlotClaimed = othersKeys.includes(slotKey) && isRetry(creation.context);
	if (othersKeys.includes(unresolvedKey) || isSlotClaimed) {
		unresolved.push({ isSame: true, keys: [unresolvedKey] });
	}
	if (orderKey !== undefined && othersKeys.includes(orderKey)) {
		const { orderReference } = creation;
		unresolved.push({ isSame: false, orderReference, keys: [orderKey] });
	}
	return unresolved;
}

/** Returns the position that an entered code allows, if the error with the code described all these attempts. */
export async function findAllowedPosition<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
): Promise<number | undefined> {
	const { enteredCodes } = creation;
	if (enteredCodes === undefined) return undefined;
	return await codes.findAllowedPosition(enteredCodes, listDescribed(unresolved, keys.orderKey));
}

export async function buildErrorWithCode<T>(
	{ creation, keys, codes }: KeyedCreation<T>,
	unresolved: readonly Unresolved[],
	differences?: string[],
): Promise<NotSentError> {
	const code = await codes
		.nextCode(listDescribed(unresolved, keys.orderKey))
		.catch(() => undefined);
	const { context, kind, about, memory, enteredCodes = '' } = creation;
	if (code !== undefined && isTool(context)) {
		context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
	}
	const ofOtherItems = parseHashes(enteredCodes).flatMap((hash) => {
		const position = memory.findOtherItem(keys.itemKey, hash);
		return position ? { hash, position } : [];
	});
	return unresolvedError(creation, unresolved, { code, ofOtherItems }, differences);
}

function listDescribed(unresolved: readonly Unresolved[], orderKey = ''): Described[] {
	return unresolved.flatMap(({ isSame, keys }): Described[] => {
		const isOrder = keys.includes(orderKey);
		if (!isSame) return [isOrder ? 'order' : 'other'];
		return isOrder ? ['same', 'order'] : ['same'];
	});
}
