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
const METHOD = `Made by \`WRITE_MEASUREMENTS=1 npm run simulate\`: the package's own client, paging and rate limiter in virtual time, ${MINUTES} minutes, ${SEEDS.length} seeds, medians (the longest listing: of all seeds). The workers share nothing but an account of 20 requests a minute. Each always reads ${AT_ONCE} listings of ${PAGES} pages; a page takes 80 to 400 ms. Pages of a listing that failed do not count as finished. In brackets is the seed with the least. "Too little left" always states that nothing is left; "ask for too long" always asks for 60 s. A service that always states a limit of 60, 59 of it left, and \`Retry-After: 1\` gives the same as no headers.`;

void main();

async function main(): Promise<void> {
	const sections: string[] = [];
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
			sections.push(`${heading}\n\n${table}`);
			lines.push({ name, values: results.map((seeds) => median(seeds, 'finished')) });
		}
		const title = `Finished work of what a ${window} window allows`;
		const picture = `plots/workers-${window}.svg`;
		sections.push(`![${title}](${picture})`);
		if (process.env.WRITE_MEASUREMENTS === '1') {
			const file = path.join(__dirname, '..', '..', '..', 'docs', picture);
			writeFileSync(file, svgOf(title, WORKERS.map(String), lines));
		}
	}
	if (process.env.WRITE_MEASUREMENTS === '1') {
		writeSection(TITLE, [METHOD, ...sections].join('\n\n'));
	}
}

async function measure(window: Window, headers: Headers, workers: number): Promise<Result[]> {
	const results: Result[] = [];
	for (const seed of SEEDS) {
		results.push(await simulate({ window, headers, workers, minutes: MINUTES, seed }));
	}
	return results;
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
