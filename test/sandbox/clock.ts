import { setTimeout as sleep } from 'node:timers/promises';

// Brasília time without a time zone in the text. Code that reads it as UTC is three hours off.
const OFFSET_MS = -3 * 60 * 60 * 1000;

/** Formats a moment as the document does, `YYYY-MM-DD HH:MM:SS`, in Brasília time. */
export function timestamp(epochMs: number): string {
	return new Date(epochMs + OFFSET_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** Waits. Rejects when the signal is aborted, so that no timer outlives the sandbox. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
	if (ms > 0) await sleep(ms, undefined, { signal });
}
