import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { processState } from '../api/processState';

const STATIC_DATA_KEY = 'emitted';
/** About 100 kB of static data at most; a re-sent notice is minutes old, not thousands of sales. */
const MOST_REMEMBERED = 2_000;

const remembered = z.array(z.string()).catch([]);

/**
 * Remembers which hash was emitted with which status, so that each is emitted once. The memory of the
 * process decides, because it is there at once for simultaneous notices; the static data of the node
 * carries it over a restart.
 */
export class EmittedNotices {
	private readonly known: Set<string>;

	constructor(
		private readonly staticData: IDataObject,
		triggerKey: string,
	) {
		const inMemory = processState.emitted.get(triggerKey);
		this.known = inMemory ?? new Set(remembered.parse(staticData[STATIC_DATA_KEY]));
		if (!inMemory) processState.emitted.set(triggerKey, this.known);
	}

	has(hash: string, status: string): boolean {
		return this.known.has(entry(hash, status));
	}

	/** Enters a pair and writes the whole memory into the static data that n8n saves. */
	add(hash: string, status: string): void {
		this.known.add(entry(hash, status));
		for (const oldest of this.known) {
			if (this.known.size <= MOST_REMEMBERED) break;
			this.known.delete(oldest);
		}
		this.staticData[STATIC_DATA_KEY] = [...this.known];
	}
}

function entry(hash: string, status: string): string {
	return `${hash}|${status}`;
}
