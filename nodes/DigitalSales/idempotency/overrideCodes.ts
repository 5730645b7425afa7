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

/** A code is valid today and tomorrow only, because a person may forget it in the form. */
const DAY_MS = 86_400_000;

/** Bounds the search for the next position. */
const LAST_POSITION = 1_000;

/** What the error with a code described: the same charge, the order, or another charge in the slot. */
export type Described = 'same' | 'order' | 'other';

const DESCRIBED_SETS = (['same', 'order', 'other'] as const).reduce<Described[][]>(
	(sets, one) => sets.flatMap((set) => [set, [...set, one]]),
	[[]],
);

/** By sequence: the latest position that this process knows to be taken. */
const latestPositions = processState(new BoundedMap<number>({ most: 10_000 }));

/** Splits a text that a person entered into its codes and hashes. */
export function splitEntered(text: string): string[] {
	const words = removeInvisible(text).split(/[\s,;]+/);
	return [...new Set(words)].filter((word) => word !== '');
}

/** Finds the hashes in a text that a person entered. A word that looks like a code is no hash. */
export function parseHashes(text: string): string[] {
	return splitEntered(text).filter((word) => !SHOWN_CODE.test(word));
}

/**
 * A sequence of positions in the ledger, each of which one request can take. A request that repeats an unresolved or
 * void one takes the next position. An override code is computed from the next position, so a code works once.
 */
export class OverrideCodes {
	/** Identifies this user of the sequence in the ledger. */
	private readonly owner = digest(randomUUID());
	private ownPosition?: number;

	/** @param requestKey of the only request that a code allows */
	constructor(
		private readonly sequence: string,
		private readonly requestKey: string,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The latest position that this process knows to be taken, or 0. */
	get latestPosition(): number {
		return latestPositions.get(this.sequence) ?? 0;
	}

	/**
	 * Takes a position.
	 *
	 * @returns false if another user of the sequence has it
	 * @throws LedgerError
	 */
	async takePosition(position: number): Promise<boolean> {
		if (position <= this.latestPosition) return false;
		const isOwn = (await this.ledger?.claimKey(this.positionKey(position), this.owner)) ?? true;
		if (isOwn) {
			this.ownPosition = position;
			latestPositions.set(this.sequence, position);
		}
		return isOwn;
	}

	/** Releases the position that was taken, if any, because nothing was sent. */
	async releasePosition(): Promise<void> {
		const { ownPosition } = this;
		this.ownPosition = undefined;
		if (ownPosition === undefined) return;
		latestPositions.delete(this.sequence);
		await this.ledger?.releaseKeys([this.positionKey(ownPosition)], this.owner);
	}

	/** Makes `releasePosition` keep the position. */
	keepPosition(): void {
		this.ownPosition = undefined;
	}

	async isPositionTaken(position: number): Promise<boolean> {
		if (position <= this.latestPosition) return true;
		return (await this.ledger?.hasKey(this.positionKey(position))) ?? false;
	}

	/** Takes the next position, so that the code that was shown for it no longer works. */
	async spendShownCode(): Promise<void> {
		await this.takePosition(await this.nextPosition());
	}

	async nextPositionKey(): Promise<string> {
		return this.positionKey(await this.nextPosition());
	}

	/**
	 * Computes the code that allows the next position.
	 *
	 * @param described in the error that shows the code
	 * @throws LedgerError
	 */
	async nextCode(described: readonly Described[]): Promise<string> {
		const code = this.computeCode(await this.nextPosition(), described, currentDay());
		return code.replace(/.{4}/, '$&-');
	}

	/**
	 * Returns the next position, if one of the entered codes allows it. A code may be in any case, without its dash.
	 *
	 * @param described what the error with the code must have described
	 * @throws LedgerError
	 */
	async findAllowedPosition(
		text: string,
		described: readonly Described[],
	): Promise<number | undefined> {
		const words = text.toUpperCase().split(/[\s,;]/);
		const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const next = await this.nextPosition();
		const isAllowed = DESCRIBED_SETS.filter((set) => described.every((one) => set.includes(one)))
			.flatMap((set) =>
				[currentDay(), currentDay() - 1].map((day) => this.computeCode(next, set, day)),
			)
			.some((code) => entered.includes(code));
		return isAllowed ? next : undefined;
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
