import { readdirSync } from 'node:fs';
import path from 'node:path';

const TESTS = path.resolve(__dirname, '..');

/**
 * Declares all tests of a folder in the file that calls this. What they import is then loaded once
 * for all of them, where jest would load n8n's engine anew for each file, and for each mutant.
 */
export function gather(folder: string, leftOut: RegExp): void {
	const files = readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.test.ts') && !leftOut.test(name))
		.map((name) => path.join(folder, name));

	describe.each(files)('%s', (name) => {
		// eslint-disable-next-line @typescript-eslint/no-require-imports -- only here is it named
		require(path.join(TESTS, name));
	});
}
