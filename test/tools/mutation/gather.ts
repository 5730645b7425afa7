import { readdirSync } from 'node:fs';
import path from 'node:path';

const TESTS = path.resolve(__dirname, '../../product');

/** The names of the tests that can reach the mutant, in one text; all are wanted if there is none. */
const { wantedTests } = globalThis as { wantedTests?: string };
const { mutatedFile = '' } = globalThis as { mutatedFile?: string };

/**
 * Declares the tests of a folder in the file that calls this. What they import is then loaded once
 * for all of them. Jest would load n8n's engine again for each file, and for each mutant.
 */
export function gather(folder: string, leftOut: RegExp, prepare: () => void = () => {}): void {
	const files = readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.test.ts') && !leftOut.test(name))
		.map((name) => path.join(folder, name))
		.filter((name) => wantedTests?.includes(name) ?? true)
		.sort((one, other) => closeness(other) - closeness(one));

	// Nothing is left out of the suite here: for one mutant only the tests that can reach it are wanted,
	// and jest takes a file without any test for a fault.
	if (files.length === 0) test.todo('none that can reach the mutant');
	else prepare();

	for (const name of files) {
		describe(name, () => {
			// eslint-disable-next-line @typescript-eslint/no-require-imports -- only here is it named
			require(path.join(TESTS, name));
		});
	}
}

/** How many words of a test's path the mutated file has in its own: the test that falls is often near. */
function closeness(test: string): number {
	const words = new Set(wordsOf(mutatedFile));
	return wordsOf(test).filter((word) => words.has(word)).length;
}

const wordsOf = (name: string) =>
	name
		.replace(/([a-z])([A-Z])/g, '$1 $2')
		.toLowerCase()
		.split(/[^a-z]+/)
		.filter((word) => word !== '' && word !== 'ts')
		.map((word) => word.replace(/s$/, ''));
