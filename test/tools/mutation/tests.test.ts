import { readdirSync } from 'node:fs';
import path from 'node:path';

const TESTS = path.resolve(__dirname, '../..');

/** The names of the test files that can reach the mutant, in one text; without it, all files are loaded. */
const { wantedTests, mutatedFile = '' } = globalThis as {
	wantedTests?: string;
	mutatedFile?: string;
};
/** `unit` or `engine`. */
const { folder = '' } = globalThis as { folder?: string };
/**
 * The tests of the sandbox cannot notice a change of a node. The tests of n8n's SSRF protection would leave the
 * protection on for later tests.
 */
const LEFT_OUT = /sandbox\.test|blockedByN8n/;

// Loads all tests of the folder into this file, so that they share what they import. Otherwise jest would load n8n's
// engine again for each file and each mutant.
const files = readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts') && !LEFT_OUT.test(name))
	.map((name) => path.join(folder, name))
	.filter((name) => wantedTests?.includes(name) ?? true)
	.sort((one, other) => closeness(other) - closeness(one));

// Jest fails a file without tests, and some mutants are reached by none.
if (files.length === 0) test.todo('none that can reach the mutant');
// Their hooks must belong to all tests, not to the first file that loads them.
else {
	load('helpers/timeLapse');
	if (folder === 'engine') load('helpers/engine');
}

for (const name of files) {
	describe(name, () => {
		load(name);
	});
}

function load(name: string): void {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- the name is known only here
	require(path.join(TESTS, name));
}

/** The number of words that the paths of a test and the mutated file share. The test that fails is often near. */
function closeness(test: string): number {
	const words = new Set(wordsOf(mutatedFile));
	return wordsOf(test).filter((word) => words.has(word)).length;
}

function wordsOf(name: string): string[] {
	return name
		.replace(/([a-z])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.split(/[^a-z]+/)
		.filter((word) => word !== '' && word !== 'ts')
		.map((word) => word.replace(/s$/, ''));
}
