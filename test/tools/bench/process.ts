import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Linux counts the time of a process in hundredths of a second, on every machine of today. */
const TICKS_A_SECOND = 100;
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/** CPU time that a process has used so far, in milliseconds. */
export function cpuMs(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// The name of the program comes second, in brackets, and may hold blanks.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const ticks = Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
	return (ticks * 1_000) / TICKS_A_SECOND;
}

/** Memory of a process, in MB (of 1,048,576 bytes): now, and the most since {@link resetPeak}. */
export function memoryMb(pid: number): { now: number; peak: number } {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const read = (name: string): number =>
		Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
	return { now: read('VmRSS'), peak: read('VmHWM') };
}

/** Resets the peak of a process to what it uses now. */
export function resetPeak(pid: number): void {
	writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

const PRELOADED = path.join(__dirname, 'memoryProbe.cjs');
const COLLECTED_WITHIN_MS = 3_000;
const WRITTEN_WITHIN_MS = 200;
const YOUNG_FILE = path.join(tmpdir(), `digital-sales-bench-${process.pid}-young`);

/** The environment of an n8n that {@link collectGarbage} and {@link youngMb} can ask. */
export const WITH_MEMORY_PROBE = {
	NODE_OPTIONS: `--expose-gc --require ${PRELOADED}`,
	BENCH_YOUNG_FILE: YOUNG_FILE,
};

/** Has a process of Node.js clear away all that nothing uses any more. */
export async function collectGarbage(pid: number): Promise<void> {
	process.kill(pid, 'SIGUSR2');
	await pause(COLLECTED_WITHIN_MS);
}

/** The most that V8 has kept for new objects since {@link collectGarbage}, in MB. */
export async function youngMb(pid: number): Promise<number> {
	process.kill(pid, 'SIGURG');
	await pause(WRITTEN_WITHIN_MS);
	const bytes = Number(readFileSync(YOUNG_FILE, 'utf8'));
	rmSync(YOUNG_FILE);
	return bytes / 1_048_576;
}
