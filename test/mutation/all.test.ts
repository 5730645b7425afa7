import '../engine/harness';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const TESTS = path.resolve(__dirname, '..');
const FOLDERS = ['unit', 'engine'];
/** What tests the stand-in or the harness cannot notice a change of a node. */
const LEFT_OUT = /^(unit.sandbox|engine.harness)/;

const files = FOLDERS.flatMap((folder) =>
	readdirSync(path.join(TESTS, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.test.ts'))
		.map((name) => path.join(folder, name)),
).filter((name) => !LEFT_OUT.test(name));

// One file loads n8n's engine once for all tests, and a mutant pays that once instead of ten times.
describe.each(files)('%s', (name) => {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- a file is named only here
	require(path.join(TESTS, name));
});
