import { randomUUID } from 'crypto';
import type { Ledger } from '../n8n';
import { BoundedMap, digest, processState } from '../shared';

const LAST_POSITION = 1_000;

/** By ledger key: the latest taken position, or 0. */
export type Positions = Record<string, number>;

const latestPositions = processState(new BoundedMap<number>({ most: 10_000 }));

/**
 * Each ledger key has a sequence of positions. A request that repeats an unresolved or void request takes the next
 * position of every key, so only one of several is sent.
 */
export class KeySequences {
	private readonly owner = digest(randomUUID());
	private ownPositions: Positions = {};
	private readonly takenKeys = new Set<string>();

	constructor(
		private readonly ledgerKeys: readonly string[],
		private readonly ledger: Ledger | undefined,
	) {}

	/** The positions that this process knows, also of the keys where this request took a position. */
	latestKnown(keys: readonly string[]): Positions {
		return latestOf([...keys, ...this.takenKeys]);
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
			// The code of the refusal is computed from these positions, so they stay taken.
			this.keepTaken();
			return false;
		}
		return true;
	}

	/** Gives back what this request has taken since `keepTaken`. */
	async releaseTaken(): Promise<void> {
		for (const [key, position] of Object.entries(this.ownPositions)) {
			latestPositions.set(key, position - 1);
			await this.ledger?.releaseKeys([positionKey(key, position)], this.owner);
		}
		this.ownPositions = {};
	}

	keepTaken(): void {
		this.ownPositions = {};
	}

	async read(keys = this.ledgerKeys): Promise<Positions> {
		for (const key of keys) {
			let latest = latestPositions.get(key) ?? 0;
			while (latest < LAST_POSITION && (await this.isTaken(key, latest + 1))) latest++;
			latestPositions.set(key, latest);
		}
		return latestOf(keys);
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
}

function latestOf(keys: readonly string[]): Positions {
	return Object.fromEntries(keys.map((key) => [key, latestPositions.get(key) ?? 0]));
}

function positionKey(key: string, position: number): string {
	return digest('position', key, String(position));
}
