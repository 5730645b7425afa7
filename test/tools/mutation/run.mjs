import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

const VERDICTS = 'reports/mutation/verdicts.json';
const OPTIONS = {
	testRunner: 'jest',
	jest: {
		config: {
			preset: './test/jest.config.js',
			testPathIgnorePatterns: ['/node_modules/'],
			testEnvironment: './test/tools/mutation/environment.cjs',
			testSequencer: './test/tools/mutation/unitFirst.cjs',
			testTimeout: 8_000,
		},
		// The tests are named at run time only, where jest does not see them.
		enableFindRelatedTests: false,
	},
	coverageAnalysis: 'perTest',
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
	thresholds: { high: 90, low: 85, break: null },
	concurrency: 2,
	timeoutMS: 10_000,
	ignorePatterns: [
		'.n8n-host',
		'.n8n-hosts',
		'.registry-host',
		'.n8n-data',
		'coverage',
		'dist',
		'reports',
	],
	tempDirName: '.stryker-tmp',
};
const NOTICED = ['Killed', 'Timeout'];
/** What Stryker calls neither noticed nor unnoticed, such as code that does not compile, has no say. */
const COUNTED = [...NOTICED, 'Survived', 'NoCoverage'];

const isNoticed = (mutant) => NOTICED.includes(mutant.status);

const placeOf = ({ fileName, location: { start, end } }) =>
	`${relative('.', fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const keyOf = (mutant) => `${placeOf(mutant)} ${mutant.mutatorName} ${mutant.replacement}`;

/**
 * What a change is tried with, one after the other as long as no test has noticed it: first what
 * takes seconds. Code that also runs when a module is loaded is reached by all tests, which take a
 * minute, so those that reach it directly come first.
 */
const STEPS = [
	{ tests: 'the unit tests', files: ['unit.test.ts'], ignoreStatic: false },
	{
		tests: 'the tests that reach a change directly',
		files: ['*.test.ts'],
		ignoreStatic: true,
	},
	{
		tests: 'all tests, for what runs when a module is loaded',
		files: ['*.test.ts'],
		ignoreStatic: false,
		isFor: (mutant) => mutant.static,
	},
];

/** The verdicts on every change in these files, or parts of files; they are kept after each step. */
async function tryAll(patterns) {
	const verdicts = new Map();
	let mutate = patterns;
	for (const { tests, files, ignoreStatic, isFor = () => true } of STEPS) {
		const testMatch = files.map((name) => `<rootDir>/test/tools/mutation/${name}`);
		if (verdicts.size > 0) {
			const left = [...verdicts.values()].filter((mutant) => !isNoticed(mutant));
			mutate = left.filter(isFor).map(placeOf);
			if (mutate.length === 0) continue;
		}
		const stryker = new Stryker({
			...OPTIONS,
			mutate,
			ignoreStatic,
			jest: { ...OPTIONS.jest, config: { ...OPTIONS.jest.config, testMatch } },
		});
		for (const mutant of await stryker.runMutationTest()) {
			verdicts.set(keyOf(mutant), joined(verdicts.get(keyOf(mutant)), mutant));
		}
		await writeFile(VERDICTS, JSON.stringify([...verdicts.values()]));
		process.stdout.write(`After ${tests}:\n${table([...verdicts.values()]).join('')}\n`);
	}
}

/** What is known of a change after one more try: the place of one also holds smaller ones, tried before. */
function joined(before, mutant) {
	if (!before) return mutant;
	const isNews = !isNoticed(before) && COUNTED.includes(mutant.status);
	return {
		...mutant,
		status: isNews ? mutant.status : before.status,
		static: before.static || mutant.static,
	};
}

/** A line for each folder below the nodes, and one for all. */
function table(verdicts) {
	const folders = new Map();
	for (const mutant of verdicts.filter(({ status }) => COUNTED.includes(status))) {
		const folder = relative('nodes/DigitalSales', dirname(mutant.fileName)).split('/')[0];
		for (const name of [`${folder}/`, 'all']) {
			folders.set(name, [...(folders.get(name) ?? []), mutant]);
		}
	}
	return [...folders].map(([name, mutants]) => {
		const noticed = mutants.filter(isNoticed).length;
		const percent = ((100 * noticed) / mutants.length).toFixed(1);
		return `${name.padEnd(14)} ${noticed} of ${mutants.length} changes noticed: ${percent} %\n`;
	});
}

const patterns = process.argv.slice(2);
await mkdir(dirname(VERDICTS), { recursive: true });
await tryAll(patterns.length > 0 ? patterns : ['nodes/**/*.ts']);
