const { readdirSync, readFileSync, rmSync } = require('node:fs');
const { mkdir, writeFile } = require('node:fs/promises');
const path = require('node:path');
const TestEnvironment = require('../../helpers/jest/environment.cjs');

// Started with `npm run mutation` this tries changes of the nodes; for jest it is the environment of
// the tests (see tests.test.ts) that are to notice them.

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
	ignorePatterns: ['.n8n-host', '.n8n-hosts', '.n8n-data', 'coverage', 'dist', 'reports'],
	tempDirName: '.stryker-tmp',
};
const NOTICED = ['Killed', 'Timeout'];
/** What Stryker calls neither noticed nor unnoticed, such as code that does not compile, has no say. */
const COUNTED = [...NOTICED, 'Survived', 'NoCoverage'];

const isNoticed = (mutant) => NOTICED.includes(mutant.status);

const placeOf = ({ fileName, location: { start, end } }) =>
	`${path.relative('.', fileName)}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const keyOf = (mutant) => `${placeOf(mutant)} ${mutant.mutatorName} ${mutant.replacement}`;

/**
 * What a change is tried with, one after the other as long as no test has noticed it: first what
 * takes seconds. Code that also runs when a module is loaded is reached by all tests, which take a
 * minute, so those that reach it directly come first.
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

/** The verdicts on every change in these files, or parts of files; they are kept after each step. */
async function tryAll(patterns) {
	const { Stryker } = await import('@stryker-mutator/core');
	await mkdir(path.dirname(VERDICTS), { recursive: true });
	const verdicts = new Map();
	let mutate = patterns;
	for (const { tests, folder, ignoreStatic, isFor = () => true } of STEPS) {
		const config = { ...OPTIONS.jest.config, globals: { folder } };
		if (verdicts.size > 0) {
			const left = [...verdicts.values()].filter((mutant) => !isNoticed(mutant));
			mutate = left.filter(isFor).map(placeOf);
			if (mutate.length === 0) continue;
		}
		const stryker = new Stryker({
			...OPTIONS,
			mutate,
			ignoreStatic,
			jest: { ...OPTIONS.jest, config },
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

/** The last mutant that a test has noticed; one process tries many mutants, one after the other. */
let fallen;

/** Nothing is set up any more; what was, is taken down, also where it came about in part only. */
function harmless({ type, fn }) {
	if (type.startsWith('before')) return async () => {};
	return async () => {
		try {
			await fn();
		} catch {
			// Some test has fallen; this is one of the consequences.
		}
	};
}

/** Which file each mutant is in: Stryker hands on a mutant's number alone, and writes it into the file. */
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

/** The path of the file that a mutant is in, below nodes/; empty without one, as in the first run. */
function mutatedFile(mutant) {
	files ??= readFiles();
	return files.get(mutant) ?? '';
}

/**
 * Does no more for a mutant than its verdict needs: tests that cannot reach it are not loaded, and
 * after the first failure the others are skipped, those of the next file too.
 */
module.exports = class MutationEnvironment extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.mutant = process.env.__STRYKER_ACTIVE_MUTANT__;
		const pattern = config.globalConfig.testNamePattern;
		this.global.wantedTests = this.hasFallen() ? '' : pattern?.replaceAll('\\', '');
		this.global.mutatedFile = mutatedFile(this.mutant);
		this.global.folder = config.projectConfig.globals.folder;
	}

	hasFallen() {
		return this.mutant !== undefined && this.mutant === fallen;
	}

	async handleTestEvent(event) {
		if (event.name === 'test_start' && this.hasFallen()) event.test.mode = 'skip';
		if (event.name === 'hook_start' && this.hasFallen()) event.hook.fn = harmless(event.hook);
		if (event.name === 'test_done' && event.test.errors.length > 0) fallen = this.mutant;
	}

	// Where all tests of a file are skipped jest calls no afterAll, and the engine's folder stays.
	async teardown() {
		const folder = this.global.process?.env.N8N_USER_FOLDER ?? '';
		if (folder.includes('digital-sales-engine-')) rmSync(folder, { recursive: true, force: true });
		await super.teardown();
	}
};

if (require.main === module) {
	const patterns = process.argv.slice(2);
	void tryAll(patterns.length > 0 ? patterns : ['nodes/**/*.ts']);
}
