import { createHash } from 'crypto';
import type { NotSentError } from '../output';
import { clock } from '../shared';
import type { LedgerCreation } from './creation';
import { CODE_LETTERS } from './enteredText';
import { isSlotKey } from './keys';
import type { Positions } from './positions';
import { type Doubt, inDoubtError } from './refusals';

const LENGTH = 8;

/** A code is valid on its day and the next (UTC), because a person may leave it in the form. */
const DAY_MS = 86_400_000;

/** What an error with a code describes: the same charge, the order, or another charge in the slot. */
type Described = 'same' | 'order' | 'other';

const ALL_SUBSETS = (['same', 'order', 'other'] as const).reduce<Described[][]>(
	(sets, one) => sets.flatMap((set) => [set, [...set, one]]),
	[[]],
);

type DescribedAttempt = Pick<Doubt, 'isSame' | 'keys'>;

/**
 * Codes are computed from the latest positions of a request's keys. Using a code takes the next positions, so it works
 * once.
 *
 * @returns the latest positions, for `takeNext`, if an entered code is valid, and its error described all of `doubts`
 * @throws LedgerError
 */
export async function findAllowedPositions<T>(
	creation: LedgerCreation<T>,
	doubts: readonly DescribedAttempt[],
): Promise<Positions | undefined> {
	const { enteredText = '', sequences } = creation;
	if (enteredText === '') return undefined;
	// A person may have typed the code without its dash, or with another.
	const words = enteredText.toUpperCase().split(/[\s,;]/);
	const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
	const positions = await sequences.read();
	const described = listDescribed(creation, doubts);
	const days = [currentDay(), currentDay() - 1];
	const codes = ALL_SUBSETS.flatMap((others) =>
		days.map((day) => computeCode(creation, positions, [...described, ...others], day)),
	);
	return codes.some((code) => entered.includes(code)) ? positions : undefined;
}

export async function errorWithCode<T>(
	creation: LedgerCreation<T>,
	doubts: readonly Doubt[],
	differences: string[],
): Promise<NotSentError> {
	const code = await codeForPerson(creation, doubts);
	return inDoubtError(creation, doubts, code, differences);
}

/**
 * A model must not see the code, so a person finds it in the log.
 *
 * @returns undefined if n8n's database fails
 */
export async function codeForPerson<T>(
	creation: LedgerCreation<T>,
	doubts: readonly DescribedAttempt[],
): Promise<string | undefined> {
	const { context, sequences, isAgentCall, kind, about } = creation;
	const positions = await sequences.read().catch(() => undefined);
	if (!positions) return undefined;
	const described = listDescribed(creation, doubts);
	const code = computeCode(creation, positions, described, currentDay()).replace(/.{4}/, '$&-');
	if (isAgentCall) context.logger.warn(`The code for a ${kind} in doubt (${about}) is ${code}.`);
	return code;
}

/** A code is also valid in another execution, which has another slot. */
function computeCode<T>(
	{ requestKey }: LedgerCreation<T>,
	positions: Positions,
	described: readonly Described[],
	day: number,
): string {
	const set = [...new Set(described)].sort();
	const lasting = Object.entries(positions).filter(([key]) => !isSlotKey(key));
	const text = [JSON.stringify(lasting), requestKey, String(day), ...set].join(' ');
	const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
	return Array.from(bytes, (byte) => CODE_LETTERS[byte % CODE_LETTERS.length]).join('');
}

function listDescribed<T>(
	{ orderKey = '' }: LedgerCreation<T>,
	doubts: readonly DescribedAttempt[],
): Described[] {
	return doubts.flatMap(({ isSame, keys }): Described[] => {
		const isOrder = keys.includes(orderKey);
		if (!isSame) return [isOrder ? 'order' : 'other'];
		return isOrder ? ['same', 'order'] : ['same'];
	});
}

function currentDay(): number {
	return Math.floor(clock.now() / DAY_MS);
}
