import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

// Brasília time without a zone in the text: readers who take it for UTC are three hours off.
const OFFSET_MS = -3 * 60 * 60 * 1000;

/** Formats a moment as the document does, `YYYY-MM-DD HH:MM:SS`, in Brasília time. */
export function timestamp(epochMs: number): string {
	return new Date(epochMs + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Waiting that ends with the sandbox, so that no timer outlives it. */
export class Pauses {
	private readonly abort = new AbortController();

	constructor() {
		// Every waiting request listens, and there may be hundreds.
		setMaxListeners(0, this.abort.signal);
	}

	/** Rejects when the sandbox closes. */
	async sleep(ms: number): Promise<void> {
		if (ms > 0) await sleep(ms, undefined, { signal: this.abort.signal });
	}

	get stopped(): boolean {
		return this.abort.signal.aborted;
	}

	stop(): void {
		this.abort.abort();
	}
}
