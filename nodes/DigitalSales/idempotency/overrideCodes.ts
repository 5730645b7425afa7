import { createHash, randomUUID } from 'crypto';
import { removeInvisible } from '../domain/text';
import { clock } from '../shared/clock';
import { digest } from '../shared/digest';
import { BoundedMap, processState } from '../shared/processState';
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

/** By sequence. */
const latestPositions = processState(new BoundedMap<number>({ most: 10_000 }));

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
 * A sequence of positions in the ledger. A request that repeats an unresolved or void request takes the next position.
 * A code is computed from the next position, so it works once. Methods throw a LedgerError if n8n's database fails.
 */
export class OverrideCodes {
	private readonly owner = digest(randomUUID());
	private ownPosition?: number;

	constructor(
		private readonly sequence: string,
		private readonly requestKey: string,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The latest position that this process knows to be taken, or 0. */
	get latestPosition(): number {
		return latestPositions.get(this.sequence) ?? 0;
	}

	/** @returns false if another claim has the position */
	async takePosition(position: number): Promise<boolean> {
		if (position <= this.latestPosition) return false;
		const isOwn = (await this.ledger?.claimKey(this.positionKey(position), this.owner)) ?? true;
		if (isOwn) {
			this.ownPosition = position;
			latestPositions.set(this.sequence, position);
		}
		return isOwn;
	}

	async releasePosition(): Promise<void> {
		const { ownPosition } = this;
		this.ownPosition = undefined;
		if (ownPosition === undefined) return;
		latestPositions.delete(this.sequence);
		await this.ledger?.releaseKeys([this.positionKey(ownPosition)], this.owner);
	}

	/** After this, `releasePosition` does nothing. */
	keepPosition(): void {
		this.ownPosition = undefined;
	}

	async isPositionTaken(position: number): Promise<boolean> {
		if (position <= this.latestPosition) return true;
		return (await this.ledger?.hasKey(this.positionKey(position))) ?? false;
	}

	async invalidateShownCode(): Promise<void> {
		await this.takePosition(await this.nextPosition());
	}

	async nextPositionKey(): Promise<string> {
		return this.positionKey(await this.nextPosition());
	}

	async nextCode(described: readonly Described[]): Promise<string> {
		const code = this.computeCode(await this.nextPosition(), described, currentDay());
		return code.replace(/.{4}/, '$&-');
	}

	/** Returns the next position, if the error with an entered code described at least `described`. */
	async findAllowedPosition(
		text: string,
		described: readonly Described[],
	): Promise<number | undefined> {
		const words = text.toUpperCase().split(/[\s,;]/);
		const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const next = await this.nextPosition();
		const days = [currentDay(), currentDay() - 1];
		const codes = ALL_SUBSETS.flatMap((others) =>
			days.map((day) => this.computeCode(next, [...described, ...others], day)),
		);
		return codes.some((code) => entered.includes(code)) ? next : undefined;
	}

	private async nextPosition(): Promise<number> {
		let latest = this.latestPosition;
		while (latest < LAST_POSITION && (await this.isPositionTaken(latest + 1))) latest++;
		latestPositions.set(this.sequence, latest);
		return latest + 1;
	}

	private positionKey(position: number): string {
		return digest('position', this.sequence, String(position));
	}

	private computeCode(position: number, described: readonly Described[], day: number): string {
		const set = [...new Set(described)].sort();
		const text = [this.positionKey(position), this.requestKey, String(day), ...set].join(' ');
		const bytes = createHash('sha256').update(text).digest().subarray(0, LENGTH);
		return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
	}
}

function currentDay(): number {
	return Math.floor(clock.now() / DAY_MS);
}
