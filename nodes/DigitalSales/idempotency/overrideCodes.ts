import { createHash, randomUUID } from 'crypto';
import { removeInvisible } from '../domain/text';
import { clock } from '../shared/clock';
import { digest } from '../shared/digest';
import { BoundedMap, processState } from '../shared/processState';
import type { Ledger } from './ledger';

/** No letters or digits that look alike. */
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const LENGTH = 8;
const SHOWN_CODE = new RegExp(`^[${LETTERS}]{4}-[${LETTERS}]{4}$`, 'i');

/** A code is valid today and tomorrow, because it may be forgotten in a form. */
const DAY_MS = 86_400_000;

/** Far more than anybody needs. It bounds the search for the next position. */
const LAST_POSITION = 1_000;

/** What the error with a code described: the same charge, its order, or other data in its slot. */
export type Described = 'same' | 'order' | 'other';

/** Every set of descriptions that an error may have. */
const DESCRIBED_SETS = (['same', 'order', 'other'] as const).reduce<Described[][]>(
	(sets, one) => sets.flatMap((set) => [set, [...set, one]]),
	[[]],
);

/** The latest position of each sequence that this process knows to be taken. */
const latestPositions = processState(new BoundedMap<number>({ most: 10_000 }));

/** The hashes in what a person entered: everything that does not look like a code as it is shown. */
export function parseHashes(text: string): string[] {
	return removeInvisible(text)
		.split(/[\s,;]+/)
		.filter((word) => word !== '' && !SHOWN_CODE.test(word));
}

/**
 * A sequence of positions, each of which is taken once, by whichever process comes first. Whoever makes something
 * again takes the next position, because a code allows it or because the earlier result is void. A code is computed
 * from the next position, so that it works once.
 */
export class OverrideCodes {
	/** Names this user of the sequence in the ledger. */
	private readonly owner = digest(randomUUID());
	private ownPosition?: number;

	/**
	 * @param sequence names the sequence
	 * @param requestKey of the only request that a code allows
	 */
	constructor(
		private readonly sequence: string,
		private readonly requestKey: string,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The latest position that this process knows to be taken. 0 if none is. */
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

	/** Returns the position that was taken, if any, because nothing was sent. */
	async releasePosition(): Promise<void> {
		const { ownPosition } = this;
		this.ownPosition = undefined;
		if (ownPosition === undefined) return;
		latestPositions.delete(this.sequence);
		await this.ledger?.releaseKeys([this.positionKey(ownPosition)], this.owner);
	}

	/** The position that was taken will not be released. */
	keepPosition(): void {
		this.ownPosition = undefined;
	}

	async isPositionTaken(position: number): Promise<boolean> {
		if (position <= this.latestPosition) return true;
		return (await this.ledger?.hasKey(this.positionKey(position))) ?? false;
	}

	/** Makes the code that was shown last invalid. */
	async spendShownCode(): Promise<void> {
		await this.takePosition(await this.nextPosition());
	}

	/** The key of the next position, in the ledger. */
	async nextPositionKey(): Promise<string> {
		return this.positionKey(await this.nextPosition());
	}

	/**
	 * The code that allows the next position.
	 *
	 * @param described in the error that shows the code
	 * @throws LedgerError
	 */
	async nextCode(described: readonly Described[]): Promise<string> {
		const code = this.computeCode(await this.nextPosition(), described, today());
		return code.replace(/.{4}/, '$&-');
	}

	/**
	 * The next position, if one of the entered codes allows it. They may be in any case, with or without the dash.
	 *
	 * @param described what the error with the code must have described
	 * @throws LedgerError
	 */
	async positionAllowedBy(
		text: string,
		described: readonly Described[],
	): Promise<number | undefined> {
		const words = text.toUpperCase().split(/[\s,;]/);
		const entered = words.map((word) => word.replace(/[^0-9A-Z]/g, ''));
		const next = await this.nextPosition();
		const isAllowed = DESCRIBED_SETS.filter((set) => described.every((one) => set.includes(one)))
			.flatMap((set) => [today(), today() - 1].map((day) => this.computeCode(next, set, day)))
			.some((code) => entered.includes(code));
		return isAllowed ? next : undefined;
	}

	/** The first position that nobody has taken. */
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

function today(): number {
	return Math.floor(clock.now() / DAY_MS);
}
