import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';

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

const FILE = path.join(tmpdir(), `digital-sales-bench-${process.pid}.cpuprofile`);
const STARTED_WITHIN_MS = 500;
const PROFILED_WITHIN_MS = 3_000;

/** The environment of an n8n that {@link profileOf} can profile. */
export const WITH_PROFILER = {
	NODE_OPTIONS: `--require ${path.join(__dirname, 'profiler.cjs')}`,
	BENCH_PROFILE_FILE: FILE,
};

/** What n8n does, by the files of the functions that do it; the innermost function decides. */
const PARTS = {
	'this package': /node_modules\/n8n-nodes-digital-sales\/|bench\/floor/,
	'engines for expressions': /expression-runtime|isolated-vm/,
	'the database': /typeorm|sqlite|@n8n\/db|\/executions?\/|flatted|execution-lifecycle/,
	'taking the call in': /webhook|\/(express|body-parser|router|raw-body|finalhandler)\//,
} as const;
const REST = 'running the workflow, and the rest';

/** Parts of n8n's work, in the order in which they are shown. */
export const PART_NAMES = [...Object.keys(PARTS), 'clearing memory', REST];

const profileSchema = z.object({
	nodes: z.array(
		z.object({
			id: z.number(),
			callFrame: z.object({ functionName: z.string(), url: z.string() }),
			children: z.array(z.number()).default([]),
		}),
	),
	samples: z.array(z.number()),
	timeDeltas: z.array(z.number()),
});

/** Milliseconds that the main thread of a process spends on each part of its work meanwhile. */
export async function profileOf(
	pid: number,
	work: () => Promise<unknown>,
): Promise<Record<string, number>> {
	process.kill(pid, 'SIGUSR2');
	await pause(STARTED_WITHIN_MS);
	await work();
	process.kill(pid, 'SIGURG');
	await pause(PROFILED_WITHIN_MS);
	const { nodes, samples, timeDeltas } = profileSchema.parse(
		JSON.parse(await readFile(FILE, 'utf8')),
	);
	await rm(FILE);
	const parents = new Map(
		nodes.flatMap(({ id, children }) => children.map((child) => [child, id])),
	);
	const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
	const partOf = (leaf: number): string | undefined => {
		for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
			const { functionName = '', url = '' } = frames.get(id) ?? {};
			if (functionName === '(idle)') return undefined;
			if (functionName === '(garbage collector)') return 'clearing memory';
			const found = Object.entries(PARTS).find(([, pattern]) => pattern.test(url));
			if (found) return found[0];
		}
		return REST;
	};
	const spent: Record<string, number> = {};
	samples.forEach((sample, nth) => {
		const part = partOf(sample);
		if (part !== undefined) spent[part] = (spent[part] ?? 0) + (timeDeltas[nth] ?? 0) / 1_000;
	});
	return spent;
}
