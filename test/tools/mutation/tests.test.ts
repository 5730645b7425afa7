import { readdirSync } from 'node:fs';
import path from 'node:path';

const TESTS = path.resolve(__dirname, '../..');

/** The names of the tests that can reach the mutant, in one text; all are wanted if there is none. */
const { wantedTests, mutatedFile = '' } = globalThis as {
	wantedTests?: string;
	mutatedFile?: string;
};
/** `unit` or `engine`. */
const { folder = '' } = globalThis as { folder?: string };
/**
 * The tests of the sandbox cannot notice a change of a node. What n8n blocks is read once from the
 * environment, and would stay blocked for the tests that follow.
 */
const LEFT_OUT = /sandbox\.test|blockedByN8n/;

// The tests of the folder, all in one file: what they import is then loaded once for all of them. Jest
// would load n8n's engine again for each file, and for each mutant.
const files = readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts') && !LEFT_OUT.test(name))
	.map((name) => path.join(folder, name))
	.filter((name) => wantedTests?.includes(name) ?? true)
	.sort((one, other) => closeness(other) - closeness(one));

// Nothing is left out of the suite here: for one mutant only the tests that can reach it are wanted,
// and jest takes a file without any test for a fault.
if (files.length === 0) test.todo('none that can reach the mutant');
// What these set up has to hold for all tests and is taken down after the last.
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
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- only here is it named
	require(path.join(TESTS, name));
}

/** How many words of a test's path the mutated file has in its own: the test that falls is often near. */
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
