const { readdirSync, readFileSync, rmSync } = require('node:fs');
const path = require('node:path');
const TestEnvironment = require('../../support/jest/environment.cjs');

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
