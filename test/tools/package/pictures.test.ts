import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../../..');
const LARGEST_PICTURE_BYTES = 150_000;

const pagesOf = (folder: string): string[] =>
	readdirSync(path.join(ROOT, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => path.join(folder, name));

/** What a page links to within the project, from its own folder as Markdown reads it. */
function links(page: string): string[] {
	const text = readFileSync(path.join(ROOT, page), 'utf8');
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
		.map(([, target = '']) => target.replace(/#.*$/, ''))
		.filter((target) => target !== '' && !/^[a-z]+:/.test(target))
		.map((target) => path.join(path.dirname(page), target));
}

const pages = ['', 'docs', 'examples'].flatMap(pagesOf);
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
