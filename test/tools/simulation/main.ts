import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { markdownTable } from '../../support/figures';
import { writeSection } from '../../support/measurements';
import { svgOf } from './plot';
import type { Headers, Window } from './service';
import { AT_ONCE, PAGES, simulate, type Result } from './simulate';

const TITLE = 'Workers that share one limit, simulated';
const WORKERS = [1, 2, 3, 5, 10, 20];
const SEEDS = [1, 2, 3, 4, 5];
const MINUTES = 120;
const WINDOWS: readonly Window[] = ['sliding', 'fixed'];
const HEADERS: ReadonlyArray<[Headers, string]> = [
	['right', 'right headers'],
	['none', 'no headers'],
	['tooLittleLeft', 'too little left'],
	['askTooLong', 'ask for too long'],
];
const COLUMNS = [
	'workers',
	'finished, of what the limit allows',
	'429s for each page',
	'listings that failed',
	'longest listing',
	'with equal shares',
];
const METHOD = `Made by \`WRITE_MEASUREMENTS=1 npm run simulate\`: finished work of what the limit allows, and 429s for each page, by window and headers; ${MINUTES} minutes of virtual time, medians of ${SEEDS.length} seeds. Each worker always reads ${AT_ONCE} listings of ${PAGES} pages under one account's 20 requests a minute.`;

void main();

async function main(): Promise<void> {
	const columns: Array<{ name: string; cells: string[] }> = [];
	for (const window of WINDOWS) {
		const lines = [];
		for (const [headers, name] of HEADERS) {
			const results: Result[][] = [];
			for (const workers of WORKERS) results.push(await measure(window, headers, workers));
			const table = markdownTable(
				COLUMNS,
				results.map((seeds, nth) => rowOf(WORKERS[nth] ?? 0, seeds)),
			);
			const heading = `### A ${window} window, ${name}`;
			process.stdout.write(`\n${heading}\n\n${table}\n`);
			columns.push({ name: `${window}, ${name}`, cells: results.map(cellOf) });
			lines.push({ name, values: results.map((seeds) => median(seeds, 'finished')) });
		}
		const title = `Finished work of what a ${window} window allows`;
		const picture = `plots/workers-${window}.svg`;
		if (process.env.WRITE_MEASUREMENTS === '1' && window === 'sliding') {
			const file = path.join(__dirname, '..', '..', '..', 'docs', picture);
			writeFileSync(file, svgOf(title, WORKERS.map(String), lines));
		}
	}
	if (process.env.WRITE_MEASUREMENTS === '1') {
		const table = markdownTable(
			['workers', ...columns.map(({ name }) => name)],
			WORKERS.map((workers, nth) => [
				String(workers),
				...columns.map(({ cells }) => cells[nth] ?? ''),
			]),
		);
		writeSection(TITLE, `${METHOD}\n\n${table}`);
	}
}

async function measure(window: Window, headers: Headers, workers: number): Promise<Result[]> {
	const results: Result[] = [];
	for (const seed of SEEDS) {
		results.push(await simulate({ window, headers, workers, minutes: MINUTES, seed }));
	}
	return results;
}

/** For the documentation: finished work, and 429s for each page. */
function cellOf(seeds: Result[]): string {
	return `${Math.round(median(seeds, 'finished') * 100)} %, ${median(seeds, 'refused').toFixed(1)}`;
}

function rowOf(workers: number, seeds: Result[]): string[] {
	const least = Math.min(...seeds.map(({ finished }) => finished));
	const longest = Math.max(...seeds.map(({ longestMinutes }) => longestMinutes));
	return [
		String(workers),
		`${percent(median(seeds, 'finished'))} (${percent(least)})`,
		median(seeds, 'refused').toFixed(2),
		String(median(seeds, 'failedListings')),
		`${longest.toFixed(1)} min`,
		`${median(seeds, 'fairMinutes').toFixed(1)} min`,
	];
}

function median(results: Result[], key: keyof Result): number {
	return results.map((result) => result[key]).sort((a, b) => a - b)[results.length >> 1] ?? 0;
}

function percent(share: number): string {
	return `${(share * 100).toFixed(1)} %`;
}
