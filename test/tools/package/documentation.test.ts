import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { everyOperation } from '../../support/samples';

const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');

test.each(['docs/guide.md', 'docs/pt-BR.md'])('%s has a place for each operation', (page) => {
	const text = textOf(page);
	const missing = everyOperation().filter(({ label }) => !text.includes(label));

	expect(everyOperation().length).toBeGreaterThan(4);
	expect(missing.map(({ label }) => `${label} is not described in ${page}`)).toEqual([]);
});

/** What counts as a word, also in the cells of a table. */
const wordsIn = (text: string): number =>
	text.split(/\s+/).filter((word) => /\w/.test(word)).length;

const markdownIn = (folder: string): string[] =>
	readdirSync(path.join(ROOT, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => path.join(folder, name));

describe('who reads has little to read', () => {
	const GENERATED = ['CHANGELOG.md', 'docs/parameters.md', 'docs/measurements.md'];
	const pages = ['.', 'docs', 'examples'].flatMap(markdownIn);
	const written = pages.filter((page) => !GENERATED.includes(page));
	const [start = ''] = textOf('README.md').split('**That is all you need to start.');

	test.each([
		['the way to the first charge and the first sale', start, 650],
		['README.md', textOf('README.md'), 1_600],
		['CONTRIBUTING.md', textOf('CONTRIBUTING.md'), 900],
		['docs/architecture.md', textOf('docs/architecture.md'), 900],
		['docs/measurements.md', textOf('docs/measurements.md'), 3_000],
		['all pages that people write', written.map(textOf).join('\n'), 16_000],
	])('%s', (_what, text, most) => {
		expect(wordsIn(text)).toBeGreaterThan(most / 3);
		expect(wordsIn(text)).toBeLessThanOrEqual(most);
	});

	test('the errors that need a page are few', () => {
		const rows = [...textOf('docs/troubleshooting.md').matchAll(/^\|/gm)];
		expect(rows.length - 2).toBeLessThanOrEqual(15);
	});
});

describe('links to headings', () => {
	const slug = (heading: string): string =>
		heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-');
	const anchorsOf = (page: string): string[] =>
		[...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slug(heading));

	test.each(['.', 'docs', 'examples'].flatMap(markdownIn))('of %s lead somewhere', (page) => {
		const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)]+)\)/g)];
		const broken = links.filter(([, file = '', anchor = '']) => {
			const target = file === '' ? page : path.join(path.dirname(page), file);
			return !anchorsOf(target).includes(anchor);
		});
		expect(broken.map(([link]) => link)).toEqual([]);
	});
});

const LARGEST_PICTURE_BYTES = 150_000;

/** What a page links to within the project, from its own folder as Markdown reads it. */
function links(page: string): string[] {
	const text = textOf(page);
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
		.map(([, target = '']) => target.replace(/#.*$/, ''))
		.filter((target) => target !== '' && !/^[a-z]+:/.test(target))
		.map((target) => path.join(path.dirname(page), target));
}

const pages = ['.', 'docs', 'examples'].flatMap(markdownIn);
const pictures = [...new Set(pages.flatMap(links))].filter((target) => target.endsWith('.png'));

test.each(pages)('%s links to what is there', (page) => {
	const missing = links(page).filter(
		(target) => statSync(path.join(ROOT, target), { throwIfNoEntry: false }) === undefined,
	);
	const advice = missing.some((target) => target.endsWith('.png'))
		? ['make the pictures with `PICTURES=docs npm run browser`']
		: [];
	expect([...missing, ...advice]).toEqual([]);
});

test.each(pictures)('%s is small enough to be looked at over a telephone', (picture) => {
	const file = statSync(path.join(ROOT, picture), { throwIfNoEntry: false });
	expect(file?.size ?? 0).toBeLessThan(LARGEST_PICTURE_BYTES);
});
