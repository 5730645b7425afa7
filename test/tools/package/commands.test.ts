import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../host/n8n/paths';

// eslint-disable-next-line @typescript-eslint/no-require-imports -- jest reads it as well, as it is
const { SUITES } = require('../../suites') as { SUITES: Record<string, { folders: string[] }> };

const scripts: Record<string, string> = manifest.scripts;
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const markdownIn = (folder: string): string[] =>
	readdirSync(path.join(ROOT, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => path.join(folder, name));

const GUIDES = [...markdownIn('.'), ...markdownIn('docs'), ...markdownIn('.github')];
const SHIPPED = 'nodes/DigitalSales';

/** The scripts that a text tells its reader to run; `npm version` runs one under another name. */
function commandsIn(text: string): string[] {
	const named = text.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start|version)\b)/g);
	return [
		...new Set(
			[...named].map(([, run, short]) => run ?? short?.replace('version', 'preversion') ?? ''),
		),
	];
}

describe.each(GUIDES)('%s', (guide) => {
	const text = read(guide);

	test('names only commands that exist', () => {
		expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commandsIn(text)));
		const suites = [...text.matchAll(/\bnpm run e2e -- (\w+)/g)].map(([, suite]) => suite);
		expect(Object.keys(SUITES)).toEqual(expect.arrayContaining(suites));
	});

	test('names only files that exist', () => {
		const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)/g)].map(([, link = '']) =>
			path.join(path.dirname(guide), link),
		);
		const files = [...text.matchAll(/`([\w.-]+\/[\w./-]+\.(?:ts|js|cjs|mjs|json|md))`/g)].map(
			([, file = '']) => file,
		);
		const isThere = (file: string): boolean =>
			['', SHIPPED, 'docs', 'test'].some((folder) => existsSync(path.join(ROOT, folder, file)));
		expect([...links, ...files].filter((file) => !isThere(file))).toEqual([]);
	});
});

test('CONTRIBUTING.md explains every command', () => {
	expect(commandsIn(read('CONTRIBUTING.md')).sort()).toEqual(Object.keys(scripts).sort());
});

describe.each(Object.entries(scripts))('npm run %s', (_name, script) => {
	const steps = script.split(' && ').map((step) => step.split(' '));

	test('starts programs that are installed', () => {
		const isThere = ([program = '']: string[]): boolean =>
			program === 'node' || existsSync(path.join(ROOT, 'node_modules', '.bin', program));
		expect(steps.filter((step) => !isThere(step))).toEqual([]);
	});

	test('works on files that exist', () => {
		const files = steps.flat().filter((word) => /\/.*\.[cm]?[jt]s$/.test(word));
		expect(files.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
	});
});

const filesIn = (folder: string): string[] =>
	readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
		path.join(folder, name),
	);

test('each test belongs to one suite, and each suite has tests', () => {
	const tests = filesIn('test').filter((name) => /^(?!.*mutation).*\.test\.ts$/.test(name));
	const suites = Object.values(SUITES).map(({ folders }) =>
		tests.filter((name) => folders.some((folder) => name.startsWith(`test/${folder}/`))),
	);
	expect(suites.flat().sort()).toEqual(tests.sort());
	expect(suites.filter((files) => files.length === 0)).toEqual([]);
});
