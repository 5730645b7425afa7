import { readFileSync } from 'node:fs';
import mapValues from 'lodash/mapValues';
import sortBy from 'lodash/sortBy';
import type { N8n } from '../../helpers/n8n/n8n';

/** What we take, then what a user takes who has not got the node (peer), and n8n with a node that does nothing (floor). */
interface Sides<T> {
	ours: T;
	[other: string]: T;
}

/** Whether a goal is met, and what was measured as a line of text. */
export interface Row {
	isMet: boolean;
	text: string;
}

/** @param atMost bounds the ratio to the last of the others. Without others it bounds what we take */
export function row(what: string, measured: Sides<number>, atMost: number, unit = 'ms'): Row {
	const { ours, ...others } = measured;
	const isMet = ours <= atMost * (Object.values(others).at(-1) ?? 1);
	const ratios = Object.entries(others).map(
		([name, other]) => `; ${(ours / other).toFixed(2)} × ${name} (${number(other)})`,
	);
	const taken = `${what}: ${number(ours)} ${unit}${ratios.join('')}`;
	return { isMet, text: `${isMet ? 'met   ' : 'MISSED'}  ${taken}; goal at most ${atMost}` };
}

const number = (value: number): string =>
	value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });

/**
 * Runs the sides in turn, so that other work of the machine affects all of them.
 *
 * @param sides return how many milliseconds they took
 * @param rounds after a first one that only warms up; an odd number
 * @returns the medians of these, and of n8n's CPU time
 */
export async function inTurn(n8n: N8n, sides: Sides<() => Promise<number>>, rounds = 5) {
	const runs = mapValues(sides, (): Array<{ ms: number; cpuMs: number }> => []);
	for (let round = 0; round <= rounds; round++) {
		for (const [name, side] of Object.entries(sides)) {
			const before = cpuMs(n8n);
			const ms = await side();
			if (round > 0) runs[name]?.push({ ms, cpuMs: cpuMs(n8n) - before });
		}
	}

	const middle = Math.floor(rounds / 2);
	const medians = (figure: 'ms' | 'cpuMs') =>
		mapValues(runs, (costs) => sortBy(costs, figure)[middle]?.[figure] ?? NaN);
	return { ms: medians('ms'), cpuMs: medians('cpuMs') };
}

/** CPU time that n8n uses for the work, in milliseconds. */
export async function cpuOf(n8n: N8n, work: () => Promise<void>): Promise<number> {
	const before = cpuMs(n8n);
	await work();
	return cpuMs(n8n) - before;
}

function cpuMs({ main }: N8n): number {
	const stat = readFileSync(`/proc/${main.pid}/stat`, 'utf8');
	// The second field is the name of the program in brackets, and may contain blanks.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	// User and system time, in hundredths of a second on current Linux.
	return (Number(fields[11]) + Number(fields[12])) * 10;
}
