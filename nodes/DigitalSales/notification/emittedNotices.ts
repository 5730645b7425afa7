import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { processState } from '../api/processState';

const STATIC_DATA_KEY = 'emitted';
/** About 100 kB of static data at most; a re-sent notice is minutes old, not thousands of sales. */
const MOST_REMEMBERED = 2_000;
const LONGEST_STATUS = 100;

const remembered = z.array(z.string()).catch([]);

/** What an item says of a transaction. */
export interface Emission {
	hash: string;
	status: string;
	/** Whether the service said so itself: what a notice merely claims must never hide that. */
	verified: boolean;
}

/**
 * Remembers which hash was emitted with which status, so that each is emitted once. The memory of the
 * process decides, because it is there at once for simultaneous notices; the static data of the node
 * carries it over a restart and, one notice after another, to other processes.
 */
export class EmittedNotices {
	private readonly known: Set<string>;

	constructor(
		private readonly staticData: IDataObject,
		triggerKey: string,
	) {
		const stored = remembered.parse(staticData[STATIC_DATA_KEY]);
		this.known = processState.emitted.get(triggerKey) ?? new Set();
		processState.emitted.set(triggerKey, this.known);
		for (const entry of stored) this.known.add(entry);
	}

	has(emission: Emission): boolean {
		return this.known.has(entryOf(emission));
	}

	/** Enters an emission and writes the whole memory into the static data that n8n saves. */
	add(emission: Emission): void {
		this.known.add(entryOf(emission));
		for (const oldest of this.known) {
			if (this.known.size <= MOST_REMEMBERED) break;
			this.known.delete(oldest);
		}
		this.staticData[STATIC_DATA_KEY] = [...this.known];
	}
}

/** A hash may hold any character; encoded, it cannot be mistaken for another pair. */
function entryOf({ hash, status, verified }: Emission): string {
	const claimed = verified ? '' : 'claimed ';
	return `${claimed}${encodeURIComponent(hash)}|${status.slice(0, LONGEST_STATUS)}`;
}
