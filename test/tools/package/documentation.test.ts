import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { ROOT } from '../../helpers/n8n/paths';
import { digestOf, shownWhenMade } from '../../helpers/pictured';
import { everyOperation } from '../../helpers/samples';

// eslint-disable-next-line @typescript-eslint/no-require-imports -- jest also reads this file, and without a transform
const { SUITES } = require('../../suites') as { SUITES: Record<string, { folders: string[] }> };

const SCRIPTS: Record<string, string> = manifest.scripts;
const SHIPPED = 'nodes/DigitalSales';
const GENERATED = ['CHANGELOG.md'];
const TRANSLATED = ['docs/leia-me.md', 'docs/guia.md', 'docs/problemas.md'];
const LARGEST_PICTURE_BYTES = 150_000;

const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');
const isThere = (file: string): boolean => existsSync(path.join(ROOT, file));
const filesIn = (folder: string, recursive = true): string[] =>
	readdirSync(path.join(ROOT, folder), { recursive, encoding: 'utf8' }).map((name) =>
		path.join(folder, name),
	);

const PAGES = ['.', 'docs', 'examples', '.github'].flatMap((folder) =>
	filesIn(folder, false).filter((name) => name.endsWith('.md')),
);

/** The links of a page to files and headings of the project. */
function linksOf(page: string): Array<{ link: string; file: string; anchor: string }> {
	const links = textOf(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g);
	return [...links].map(([link, target = '', anchor = '']) => ({
		link,
		file: target === '' ? page : path.join(path.dirname(page), target),
		anchor,
	}));
}

const anchorsOf = (page: string): string[] =>
	[...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);

/** The scripts that a text names. */
function commandsIn(text: string): string[] {
	const named = text.matchAll(/\bnpm (?:run ([\w:-]+)|(test|start)\b)/g);
	return [...new Set([...named].map(([, run, short]) => run ?? short ?? ''))];
}

describe.each(PAGES)('%s', (page) => {
	test('names only commands that exist', () => {
		expect(Object.keys(SCRIPTS)).toEqual(expect.arrayContaining(commandsIn(textOf(page))));
	});

	test('names only files that exist', () => {
		const named = textOf(page).matchAll(/`([\w.-]+\/[\w./-]+\.(?:ts|js|cjs|mjs|json|md))`/g);
		const missing = [...named].filter(
			([, file = '']) =>
				!['', SHIPPED, 'docs', 'test'].some((folder) => isThere(path.join(folder, file))),
		);
		expect(missing.map(([file]) => file)).toEqual([]);
	});

	test('links only to files and headings that exist', () => {
		const broken = linksOf(page).filter(
			({ file, anchor }) => !isThere(file) || (anchor !== '' && !anchorsOf(file).includes(anchor)),
		);
		const advice = broken.some(({ file }) => file.endsWith('.png'))
			? ['make the pictures with `PICTURES=docs npm run e2e -- browser`']
			: [];
		expect([...broken.map(({ link }) => link), ...advice]).toEqual([]);
	});
});

test('pictures are small enough to be looked at over a telephone', () => {
	const pictures = PAGES.flatMap(linksOf).filter(({ file }) => file.endsWith('.png'));
	const large = pictures.filter(({ file }) => {
		const found = statSync(path.join(ROOT, file), { throwIfNoEntry: false });
		return (found?.size ?? 0) >= LARGEST_PICTURE_BYTES;
	});
	expect(large.map(({ file }) => file)).toEqual([]);
});

test('pictures show the forms as they are (PICTURES=docs npm run e2e -- browser)', () => {
	const pictures = filesIn('docs/pictures')
		.filter((file) => file.endsWith('.png'))
		.map((file) => path.relative('docs/pictures', file));
	const today = Object.fromEntries(pictures.map((picture) => [picture, digestOf(picture)]));
	expect(today).toEqual(shownWhenMade());
});

/** guide.test.ts compares the headings of the guide in Portuguese. */
test('the guide has a place for each operation', () => {
	const labels = everyOperation().map(({ label }) => label);
	expect(labels.length).toBeGreaterThan(4);
	const headings = textOf('docs/guide.md').match(/(?<=^#+ ).+ > .+$/gm);
	expect(headings).toEqual(expect.arrayContaining(labels));
});

describe('What people read is short:', () => {
	const written = PAGES.filter((page) => !GENERATED.includes(page) && !page.startsWith('.github'));
	const DOCS = written.filter((page) => page.startsWith('docs/') && !TRANSLATED.includes(page));
	const [start = ''] = textOf('README.md').split('**That is all you need to start.');
	/** Also counts words in tables. */
	const wordsIn = (text: string): number =>
		text.split(/\s+/).filter((word) => /\w/.test(word)).length;

	test.each([
		['the way to the first charge and the first sale', start, 650],
		['README.md', textOf('README.md'), 1_100],
		['docs/leia-me.md', textOf('docs/leia-me.md'), 1_200],
		['CONTRIBUTING.md', textOf('CONTRIBUTING.md'), 900],
		['docs/architecture.md', textOf('docs/architecture.md'), 900],
		['docs/unknowns.md', textOf('docs/unknowns.md'), 620],
		['docs/ without the translations', DOCS.map(textOf).join('\n'), 6_000],
		['all pages that people write', written.map(textOf).join('\n'), 14_000],
	])('%s', (_what, text, most) => {
		expect(wordsIn(text)).toBeGreaterThan(most / 3);
		expect(wordsIn(text)).toBeLessThanOrEqual(most);
	});

	test('few errors need an entry in the troubleshooting page', () => {
		const rows = [...textOf('docs/troubleshooting.md').matchAll(/^\|/gm)];
		expect(rows.length - 2).toBeLessThanOrEqual(12);
	});
});

test('CONTRIBUTING.md explains every command', () => {
	expect(commandsIn(textOf('CONTRIBUTING.md')).sort()).toEqual(Object.keys(SCRIPTS).sort());
});

test('every command works on files that exist', () => {
	const words = Object.values(SCRIPTS).flatMap((script) => script.split(' '));
	const files = words.filter((word) => /\/.*\.[cm]?[jt]s$/.test(word));
	expect(files.filter((file) => !isThere(file))).toEqual([]);
});

test('CONTRIBUTING.md describes each suite with its folders and its command', () => {
	const rows = textOf('CONTRIBUTING.md').matchAll(
		/^\| (`[^|]+`) +\| `npm ([^`]+)` +\| .+ min +\|$/gm,
	);
	const described = [...rows].map(([, folders, command]) => [command, folders]);

	const commands: Record<string, string> = {
		test: 'test',
		thorough: 'test -- thorough',
		e2e: 'run e2e',
	};
	const suites = Object.entries(SUITES).map(([suite, { folders }]) => [
		commands[suite] ?? `run e2e -- ${suite}`,
		folders.map((folder) => `\`${folder}\``).join(', '),
	]);

	expect(described).toEqual(suites);
});

test('each test belongs to one suite, and each suite has tests', () => {
	const tests = filesIn('test').filter((name) => name.endsWith('.test.ts'));
	const suites = Object.values(SUITES).map(({ folders }) =>
		tests.filter((name) => folders.some((folder) => name.startsWith(`test/${folder}/`))),
	);
	expect(suites.flat().sort()).toEqual(tests.sort());
	expect(suites.filter((files) => files.length === 0)).toEqual([]);
});
