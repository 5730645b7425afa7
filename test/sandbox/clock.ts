import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

// Brasília time without a zone in the text: readers who take it for UTC are three hours off.
const OFFSET_MS = -3 * 60 * 60 * 1000;

/** Formats a moment as the document does, `YYYY-MM-DD HH:MM:SS`, in Brasília time. */
export function timestamp(epochMs: number): string {
	return new Date(epochMs + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Sandbox time runs `scale` times as fast as real time. */
export class SandboxClock {
	private readonly abort = new AbortController();

	constructor(readonly scale: number) {
		if (!(scale > 0)) throw new Error('clockScale must be greater than 0');
		// Every waiting request listens, and there may be hundreds.
		setMaxListeners(0, this.abort.signal);
	}

	/** How many real ms a span of sandbox ms takes. */
	toReal(sandboxMs: number): number {
		return sandboxMs / this.scale;
	}

	/** Waits real ms; rejects when the sandbox closes, so that no timer outlives it. */
	async sleep(realMs: number): Promise<void> {
		if (realMs > 0) await sleep(realMs, undefined, { signal: this.abort.signal });
	}

	get stopped(): boolean {
		return this.abort.signal.aborted;
	}

	stop(): void {
		this.abort.abort();
	}
}
