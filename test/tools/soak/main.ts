import { setTimeout as pause } from 'node:timers/promises';
import { Figures } from '../../support/figures';
import { messageOf, say, step } from '../../host/n8n/terminal';
import { cpuMs } from '../bench/process';
import { sampleOf } from '../bench/statistics';
import { LOAD, Load, type Latencies } from './load';
import { probe, type Probe } from './probe';

const TENTHS = 10;
/** So many tenths at the beginning are compared with as many at the end: one alone may be an odd one. */
const COMPARED = 3;
const MOST_GROWTH_MB = 15;
const MOST_SLOWER = 1.1;
const IDLE_MS = 2_000;
const IDLE_CPU_MS = 100;

/** Waits until n8n has nothing left to do. */
async function untilIdle(pid: number): Promise<void> {
	for (;;) {
		const before = cpuMs(pid);
		await pause(IDLE_MS);
		if (cpuMs(pid) - before < IDLE_CPU_MS) return;
	}
}

type Medians = Record<keyof Latencies, number>;

/** The medians of all answers in some rounds together. */
function mediansOf(rounds: readonly Latencies[]): Medians {
	const of = (kind: keyof Latencies): number =>
		sampleOf(rounds.flatMap((round) => round[kind])).median;
	return {
		notices: of('notices'),
		charges: of('charges'),
		listings: of('listings'),
		waits: of('waits'),
	};
}

interface Ends {
	before: Probe;
	after: Probe;
	/** The least that n8n had in memory: what is cleared away late must not hide what grows. */
	leastMb: number;
}

function faults({ before, after, leastMb }: Ends, first: Medians, last: Medians): string[] {
	const found: string[] = [];
	const grown = after.residentMb - leastMb;
	if (grown > MOST_GROWTH_MB) {
		found.push(`n8n has ${grown.toFixed(1)} MB more in memory than at its least.`);
	}
	for (const [kind, count] of Object.entries(after.resources)) {
		const was = before.resources[kind] ?? 0;
		if (count > was) found.push(`${count} of ${kind} are open instead of ${was}.`);
	}
	for (const kind of Object.keys(LOAD) as Array<keyof Latencies>) {
		const ratio = last[kind] / first[kind];
		if (ratio > MOST_SLOWER) {
			found.push(`${kind} take ${ratio.toFixed(2)} times as long as at first.`);
		}
	}
	return found;
}

/**
 * Puts an n8n under load for some minutes, and compares the end with the beginning.
 *
 * @param part of the load, to try it out
 */
async function main(part = 1): Promise<void> {
	const load = await step('Building, and starting n8n', async () => await Load.open());
	try {
		await step('Filling all that the package remembers', async () => await load.fill(part));
		// What n8n and V8 fill once: code that is compiled, caches, connections.
		await step('Warming up', async () => {
			await load.run(part / TENTHS);
			await untilIdle(load.pid);
		});
		const before = await probe(load.pid);
		say(`  ${before.residentMb.toFixed(1)} MB`);
		const rounds: Latencies[] = [];
		const ends: Ends = { before, after: before, leastMb: before.residentMb };
		for (let tenth = 0; tenth < TENTHS; tenth++) {
			await step(`Tenth ${tenth + 1}`, async () => {
				rounds.push(await load.run(part / TENTHS));
				await untilIdle(load.pid);
			});
			const after = await probe(load.pid);
			ends.after = after;
			ends.leastMb = Math.min(ends.leastMb, after.residentMb);
			say(`  ${after.residentMb.toFixed(1)} MB; ${JSON.stringify(mediansOf(rounds.slice(-1)))}`);
		}
		const [first, last] = [
			mediansOf(rounds.slice(0, COMPARED)),
			mediansOf(rounds.slice(-COMPARED)),
		];
		const figures = new Figures('Whether it stays flat', 'npm run soak');
		for (const [kind, count] of Object.entries(LOAD) as Array<[keyof Latencies, number]>) {
			const took = sampleOf(rounds.map((round) => mediansOf([round])[kind]));
			figures.add(
				kind,
				Math.round(count * part),
				`${first[kind].toFixed(0)} ms in the first three tenths, ${last[kind].toFixed(0)} ms in the last three (${took.least.toFixed(0)} to ${took.most.toFixed(0)})`,
			);
		}
		const open = (seen: Probe): number =>
			Object.values(seen.resources).reduce((sum, count) => sum + count, 0);
		figures.add(
			'resident memory of n8n after a forced collection',
			1,
			`${before.residentMb.toFixed(0)} MB before, ${ends.after.residentMb.toFixed(0)} MB at the end, ${ends.leastMb.toFixed(0)} MB at its least`,
		);
		figures.add(
			'timers, sockets and handles that keep n8n running',
			1,
			`${open(before)} before, ${open(ends.after)} at the end`,
		);
		const found = faults(ends, first, last);
		figures.add('what did not stay flat', 1, found.join(' ') || 'nothing');
		figures.show();
		if (found.length > 0) process.exitCode = 1;
	} finally {
		await load.close();
	}
}

main(Number(process.argv[2] ?? 1)).catch((error: unknown) => {
	say(messageOf(error));
	process.exitCode = 1;
});
