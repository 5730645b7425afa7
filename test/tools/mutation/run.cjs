const { readdirSync, readFileSync, rmSync } = require('node:fs');
const { mkdir, writeFile } = require('node:fs/promises');
const path = require('node:path');
const TestEnvironment = require('../../helpers/jest/environment.cjs');

// `npm run mutation` runs this file to mutate the nodes. For jest this file is the environment of the tests that
// should notice the mutants (see tests.test.ts). Plain Stryker loads every related test file for each mutant (24 files
// and 6 s of CPU for a mutant of domain/money.ts); this loads only the tests that reach the mutant.

const PLACE = './test/tools/mutation';
const VERDICTS = 'reports/mutation/verdicts.json';
const OPTIONS = {
	testRunner: 'jest',
	jest: {
		config: {
			preset: './test/jest.config.js',
			testMatch: [`<rootDir>/${PLACE}/tests.test.ts`],
			testPathIgnorePatterns: ['/node_modules/'],
			testEnvironment: `${PLACE}/run.cjs`,
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
	// The first run is a whole suite, in one process.
	dryRunTimeoutMinutes: 60,
	ignorePatterns: ['.n8n-host', '.n8n-hosts', '.n8n-data', 'coverage', 'dist', 'reports'],
	tempDirName: '.stryker-tmp',
};
const NOTICED = ['Killed', 'Timeout'];
/** Other statuses, such as a mutant that does not compile, do not count. */
const COUNTED = [...NOTICED, 'Survived', 'NoCoverage'];

const isNoticed = (mutant) => NOTICED.includes(mutant.status);

const locationOf = ({ fileName, location: { start, end } }) =>
	`${path.relative('.', fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const keyOf = (mutant) => `${locationOf(mutant)} ${mutant.mutatorName} ${mutant.replacement}`;

/**
 * The tests that a mutant is tried with, one step after the other until a test notices it, fast tests first. All
 * tests reach code that runs when a module is loaded, and take a minute, so tests that reach the code directly come
 * before them.
 */
const STEPS = [
	{ tests: 'the unit tests', folder: 'unit', ignoreStatic: false },
	{ tests: 'the tests in the engine that reach it directly', folder: 'engine', ignoreStatic: true },
	{
		tests: 'all tests in the engine, for what runs when a module is loaded',
		folder: 'engine',
		ignoreStatic: false,
		isFor: (mutant) => mutant.static,
	},
];

/** Tries all mutants of the given files or parts of files, and stores the verdicts after each step. */
async function tryMutants(patterns) {
	const { Stryker } = await import('@stryker-mutator/core');
	await mkdir(path.dirname(VERDICTS), { recursive: true });
	const verdicts = new Map();
	let mutate = patterns;
	for (const { tests, folder, ignoreStatic, isFor = () => true } of STEPS) {
		const config = { ...OPTIONS.jest.config, globals: { folder } };
		if (verdicts.size > 0) {
			const left = [...verdicts.values()].filter((mutant) => !isNoticed(mutant));
			mutate = left.filter(isFor).map(locationOf);
			if (mutate.length === 0) continue;
		}
		const stryker = new Stryker({
			...OPTIONS,
			mutate,
			ignoreStatic,
			jest: { ...OPTIONS.jest, config },
		});
		for (const mutant of await stryker.runMutationTest()) {
			verdicts.set(keyOf(mutant), mergeVerdicts(verdicts.get(keyOf(mutant)), mutant));
		}
		await writeFile(VERDICTS, JSON.stringify([...verdicts.values()]));
		process.stdout.write(`After ${tests}:\n${table([...verdicts.values()]).join('')}\n`);
	}
}

/** Merges two verdicts on a mutant. A step also repeats smaller mutants inside the place of another mutant. */
function mergeVerdicts(before, mutant) {
	if (!before) return mutant;
	const isNews = !isNoticed(before) && COUNTED.includes(mutant.status);
	return {
		...mutant,
		status: isNews ? mutant.status : before.status,
		static: before.static || mutant.static,
	};
}

/** A line for each folder of the nodes, and a line for all. */
function table(verdicts) {
	const folders = new Map();
	for (const mutant of verdicts.filter(({ status }) => COUNTED.includes(status))) {
		const folder = path.relative('nodes/DigitalSales', path.dirname(mutant.fileName)).split('/')[0];
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

/** The last mutant that a test noticed. A process tries many mutants, one after the other. */
let lastNoticed;

/** Skips a setup hook, and ignores errors of a teardown hook, because the setup may be incomplete. */
function makeHarmless({ type, fn }) {
	if (type.startsWith('before')) return async () => {};
	return async () => {
		try {
			await fn();
		} catch {
			// A test has failed, and this error follows from it.
		}
	};
}

/** The file of each mutant. Stryker passes only the mutant's number, and writes the number into the file. */
let files;

function readFiles() {
	const found = new Map();
	for (const name of readdirSync('nodes', { recursive: true })) {
		if (!name.endsWith('.ts')) continue;
		const text = readFileSync(path.join('nodes', name), 'utf8');
		for (const [, mutant] of text.matchAll(/stryMutAct_\w+\("(\d+)"\)/g)) found.set(mutant, name);
	}
	return found;
}

/** The path of the mutant's file below nodes/; empty without a mutant, as in the first run. */
function mutatedFile(mutant) {
	files ??= readFiles();
	return files.get(mutant) ?? '';
}

/**
 * Does only what the verdict on a mutant needs: loads only tests that reach the mutant, and skips all tests after
 * the first failure, also in the next files.
 */
module.exports = class MutationEnvironment extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
		const pattern = config.globalConfig.testNamePattern;
		this.global.wantedTests = this.isNoticedAlready() ? '' : pattern?.replaceAll('\\', '');
		this.global.mutatedFile = mutatedFile(this.mutant);
		this.global.folder = config.projectConfig.globals.folder;
	}

	isNoticedAlready() {
		return this.mutant !== undefined && this.mutant === lastNoticed;
	}

	async handleTestEvent(event) {
		if (event.name === 'test_start' && this.isNoticedAlready()) event.test.mode = 'skip';
		if (event.name === 'hook_start' && this.isNoticedAlready())
			event.hook.fn = makeHarmless(event.hook);
		if (event.name === 'test_done' && event.test.errors.length > 0) lastNoticed = this.mutant;
	}

	// Jest calls no afterAll if all tests of a file are skipped, and the engine's folder would stay.
	async teardown() {
		const folder = this.global.process?.env.N8N_USER_FOLDER ?? '';
		if (folder.includes('digital-sales-engine-')) rmSync(folder, { recursive: true, force: true });
		await super.teardown();
	}
};

if (require.main === module) {
	const patterns = process.argv.slice(2);
	void tryMutants(patterns.length > 0 ? patterns : ['nodes/**/*.ts']);
}
