import { createHash } from 'crypto';
import { removeInvisible } from '../domain';
import { clock } from '../shared';
import { isSlotKey, type Keys } from './keys';
import type { KeySequences, Positions } from './positions';

/** Without letters and digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;
const SHOWN_CODE = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`, 'i');
const TYPED_CODE = new RegExp(`^[${LETTERS}]{4}.?[${LETTERS}]{4}$`);

/** A code is valid on its day and the next (UTC), because a person may leave it in the form. */
const DAY_MS = 86_400_000;

/** What an error with a code describes: the same charge, the order, or another charge in the slot. */
type Described = 'same' | 'order' | 'other';

const ALL_SUBSETS = (['same', 'order', 'other'] as const).reduce<Described[][]>(
	(sets, one) => sets.flatMap((set) => [set, [...set, one]]),
	[[]],
);

export function listDescribed(
	unresolved: ReadonlyArray<{ isSame: boolean; keys: string[] }>,
	orderKey = '',
): Described[] {
	return unresolved.flatMap(({ isSame, keys }): Described[] => {
		const isOrder = keys.includes(orderKey);
		if (!isSame) return [isOrder ? 'order' : 'other'];
		return isOrder ? ['same', 'order'] : ['same'];
	});
}

/** Each word is a code or a hash. */
export function splitEntered(text: string): string[] {
	const words = removeInvisible(text).split(/[\s,;]+/);
	return [...new Set(words)].filter((word) => word !== '');
}

/** A word with the dash of a code is no hash. */
export function parseHashes(text: string): string[] {
	return splitEntered(text).filter((word) => !SHOWN_CODE.test(word));
}

/** A code may be typed without its dash. Some hashes look the same. */
export function looksLikeCode(word: string): boolean {
	return TYPED_CODE.test(word);
}

/** Computes codes from the latest positions of a request's keys. Using a code takes the next, so it works once. */
export class OverrideCodes {
	constructor(
		private readonly requestKey: Keys['requestKey'],
		private readonly sequences: KeySequences,
	) {}

	/** @throws LedgerError */
	async nextCode(described: readonly Described[]): Promise<string> {
		const code = this.computeCode(await this.sequences.read(), described, currentDay());
		return code.replace(/.{4}/, '$&-');
	}

	/**
	 * @returns the latest positions, for `takeNext`, if an entered code is valid, and the error that showed it described all of `described`
	 * @throws LedgerError
	 */
	async findAllowedPositions(
		text: string,
		described: readonly Described[],
	): Promise<Positions | undefined> {
		// A person may have typed the code without its dash, or with another.
		const words = text.toUpperCase().split(/[\s,;]/);
		const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const positions = await this.sequences.read();
		const days = [currentDay(), currentDay() - 1];
		const codes = ALL_SUBSETS.flatMap((others) =>
			days.map((day) => this.computeCode(positions, [...described, ...others], day)),
		);
		return codes.some((code) => entered.includes(code)) ? positions : undefined;
	}

	/** A code is also valid in another execution, which has another slot. */
	private computeCode(positions: Positions, described: readonly Described[], day: number): string {
		const set = [...new Set(described)].sort();
		const latest = JSON.stringify(
			Object.entries(positions)
				.filter(([key]) => !isSlotKey(key))
				.sort(),
		);
		const text = [latest, this.requestKey, String(day), ...set].join(' ');
		const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
		return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
	}
}

function currentDay(): number {
	return Math.floor(clock.now() / DAY_MS);
}
