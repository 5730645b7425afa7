import { createHash, randomUUID } from 'crypto';
import { removeInvisible } from '../domain/text';
import { clock } from '../shared/clock';
import { digest } from '../shared/digest';
import { BoundedMap, processState } from '../shared/processState';
import { isSlotKey, type Keys } from './keys';
import type { Ledger } from './ledger';

/** Without letters and digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;
const SHOWN_CODE = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`, 'i');

/** A code ends after tomorrow (UTC), because a person may leave it in the form. */
const DAY_MS = 86_400_000;

const LAST_POSITION = 1_000;

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

/** By ledger key: the latest taken position, or 0. */
export type Positions = Record<string, number>;

/** By ledger key. */
const latestPositions = processState(new BoundedMap<number>({ most: 10_000 }));

function knownPositions(keys: readonly string[]): Positions {
	return Object.fromEntries(keys.map((key) => [key, latestPositions.get(key) ?? 0]));
}

/** Splits what a person entered into words. Each is a code or a hash. */
export function splitEntered(text: string): string[] {
	const words = removeInvisible(text).split(/[\s,;]+/);
	return [...new Set(words)].filter((word) => word !== '');
}

/** A word that looks like a code is no hash. */
export function parseHashes(text: string): string[] {
	return splitEntered(text).filter((word) => !SHOWN_CODE.test(word));
}

/**
 * Each key has a sequence of positions in the ledger. A request that repeats an unresolved or void request takes the next
 * position of every key, so only one of several is sent. A code is computed from the next positions, so it works once.
 * Throws a LedgerError like the ledger.
 */
export class OverrideCodes {
	private readonly owner = digest(randomUUID());
	private ownPositions: Positions = {};
	private readonly takenKeys = new Set<string>();

	constructor(
		private readonly keys: Pick<Keys, 'ledgerKeys' | 'requestKey'>,
		private readonly ledger: Ledger | undefined,
	) {}

	/** Of these keys, and of all keys of which this request has taken a position. */
	knownPositions(keys: readonly string[]): Positions {
		return knownPositions([...keys, ...this.takenKeys]);
	}

	/** @returns false if another request has the next position of a key */
	async takeNext(positions: Positions): Promise<boolean> {
		// All requests take the keys in one order, so that one of them gets all.
		const next = Object.entries(positions).map(([key, latest]) => [key, latest + 1] as const);
		for (const [key, position] of next.sort()) {
			if (await this.isTaken(key, position)) return false;
		}
		for (const [key, position] of next) {
			if (await this.take(key, position)) continue;
			// The next code counts the positions that this request has taken so far.
			this.keep();
			return false;
		}
		return true;
	}

	async invalidateShownCode(): Promise<void> {
		await this.takeNext(await this.readPositions());
	}

	async release(): Promise<void> {
		for (const [key, position] of Object.entries(this.ownPositions)) {
			latestPositions.set(key, position - 1);
			await this.ledger?.releaseKeys([positionKey(key, position)], this.owner);
		}
		this.keep();
	}

	/** After this, `release` does nothing. */
	keep(): void {
		this.ownPositions = {};
	}

	async readPositions(keys: readonly string[] = this.keys.ledgerKeys): Promise<Positions> {
		for (const key of keys) {
			let latest = latestPositions.get(key) ?? 0;
			while (latest < LAST_POSITION && (await this.isTaken(key, latest + 1))) latest++;
			latestPositions.set(key, latest);
		}
		return knownPositions(keys);
	}

	async nextCode(described: readonly Described[]): Promise<string> {
		const code = this.computeCode(await this.readPositions(), described, currentDay());
		return code.replace(/.{4}/, '$&-');
	}

	/** The positions to take, if the error with an entered code described at least `described`. */
	async findAllowedPositions(
		text: string,
		described: readonly Described[],
	): Promise<Positions | undefined> {
		const words = text.toUpperCase().split(/[\s,;]/);
		const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const positions = await this.readPositions();
		const days = [currentDay(), currentDay() - 1];
		const codes = ALL_SUBSETS.flatMap((others) =>
			days.map((day) => this.computeCode(positions, [...described, ...others], day)),
		);
		return codes.some((code) => entered.includes(code)) ? positions : undefined;
	}

	private async isTaken(key: string, position: number): Promise<boolean> {
		if (position <= (latestPositions.get(key) ?? 0)) return true;
		return (await this.ledger?.hasKey(positionKey(key, position))) ?? false;
	}

	private async take(key: string, position: number): Promise<boolean> {
		if (position <= (latestPositions.get(key) ?? 0)) return false;
		const isOwn = await this.ledger?.claimKey(positionKey(key, position), this.owner);
		if (isOwn === false) return false;
		this.ownPositions[key] = position;
		this.takenKeys.add(key);
		latestPositions.set(key, position);
		return true;
	}

	/** A code is also valid in another execution, which has another slot. */
	private computeCode(positions: Positions, described: readonly Described[], day: number): string {
		const set = [...new Set(described)].sort();
		const next = JSON.stringify(
			Object.entries(positions)
				.filter(([key]) => !isSlotKey(key))
				.sort(),
		);
		const text = [next, this.keys.requestKey, String(day), ...set].join(' ');
		const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
		return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
	}
}

function positionKey(key: string, position: number): string {
	return digest('position', key, String(position));
}

function currentDay(): number {
	return Math.floor(clock.now() / DAY_MS);
}
