import { randomUUID } from 'crypto';
import { omit } from 'lodash';
import type { Ledger } from '../n8n';
import { BoundedMap, digest, processState } from '../shared';
import type { Keys } from './keys';

const LAST_POSITION = 1_000;

/** By ledger key: the latest taken position, or 0. */
export type Positions = Record<string, number>;

interface Positioned {
	positions: Positions;
}

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
		private readonly keys: Pick<Keys, 'ledgerKeys' | 'doubtKeys' | 'lastingKeys'>,
		private readonly ledger: Ledger | undefined,
	) {}

	/** The positions that this process knows, also of the keys where this request took a position. */
	latestKnown(keys = this.keys.ledgerKeys): Positions {
		return latestOf([...keys, ...this.takenKeys]);
	}

	/** For a result, whose doubt keys are free again. */
	latestLasting(resultKey: string): Positions {
		const { lastingKeys, doubtKeys } = this.keys;
		return omit(this.latestKnown([...lastingKeys, resultKey]), doubtKeys);
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

	/** @returns false if another request has taken a position of a void result since */
	async replaceVoids(voids: readonly Positioned[]): Promise<boolean> {
		const ofVoids: Positions = {};
		for (const [key, position] of voids.flatMap(({ positions }) => Object.entries(positions))) {
			ofVoids[key] = Math.max(ofVoids[key] ?? 0, position);
		}
		return await this.takeNext({ ...(await this.read()), ...ofVoids });
	}

	/** Takes the next positions, so that no other process that knows only a void result replaces it. */
	async endVoids(voids: readonly Positioned[]): Promise<void> {
		for (const { positions } of voids) await this.takeNext(positions);
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

	async read(keys = this.keys.ledgerKeys): Promise<Positions> {
		for (const key of keys) {
			let latest = latestPositions.get(key) ?? 0;
			while (latest < LAST_POSITION && (await this.isTaken(key, latest + 1))) latest++;
			// A key without a position must not push out another's.
			if (latest > 0) latestPositions.set(key, latest);
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
