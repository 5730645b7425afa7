import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { collectGarbage, memoryMb } from '../bench/process';

const FILE = path.join(tmpdir(), `digital-sales-soak-${process.pid}.json`);
const WRITTEN_WITHIN_MS = 500;
/** Idle connections are closed by then. */
const CLOSED_WITHIN_MS = 10_000;

/** What keeps n8n alive, by kind: timers, sockets and the like. */
const resourcesSchema = z.array(z.string());

/** The environment of an n8n that {@link probe} can ask. */
export const WITH_PROBE = {
	NODE_OPTIONS: `--expose-gc --require ${path.join(__dirname, 'insideN8n.cjs')}`,
	SOAK_FILE: FILE,
};

export interface Probe {
	residentMb: number;
	resources: Record<string, number>;
}

/** What n8n holds once it has cleared away what nothing uses any more. */
export async function probe(pid: number): Promise<Probe> {
	await pause(CLOSED_WITHIN_MS);
	await collectGarbage(pid);
	const residentMb = memoryMb(pid).now;
	process.kill(pid, 'SIGURG');
	await pause(WRITTEN_WITHIN_MS);
	const kinds = resourcesSchema.parse(JSON.parse(await readFile(FILE, 'utf8')));
	await rm(FILE);
	const resources: Record<string, number> = {};
	for (const kind of kinds) resources[kind] = (resources[kind] ?? 0) + 1;
	return { residentMb, resources };
}
