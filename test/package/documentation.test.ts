import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { ROOT } from '../n8n/paths';

const PAGES = [
	...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
	...['docs', 'examples'].flatMap((folder) =>
		readdirSync(path.join(ROOT, folder))
			.filter((name) => name.endsWith('.md'))
			.map((name) => path.join(folder, name)),
	),
];
const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');

describe('The documentation', () => {
	test.each(PAGES)('%s leads nowhere that is not there', (page) => {
		const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
			.map(([, target = '']) => target.replace(/#.*/, ''))
			.filter((target) => target !== '' && !/^[a-z]+:/.test(target));
		const missing = targets.filter(
			(target) => !existsSync(path.resolve(ROOT, path.dirname(page), target)),
		);
		expect(missing).toEqual([]);
	});

	test.each(['README.md', 'docs/pt-BR.md'])('%s has a place for each operation', (page) => {
		const { properties } = new DigitalSales().description;
		const actions = properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options = [], displayOptions }) => {
				const resources = displayOptions?.show?.resource ?? [];
				return options.map((option) => `${String(resources[0])} > ${option.name}`.toLowerCase());
			});
		const text = textOf(page).toLowerCase();

		expect(actions.length).toBeGreaterThan(4);
		expect(actions.filter((action) => !text.includes(action))).toEqual([]);
	});

	test.each(readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.json')))(
		'the example %s is shown with a picture, and named in Portuguese, too',
		(file) => {
			const page = textOf('examples/README.md');
			expect(page).toContain(`](${file})`);
			expect(page).toContain(`pictures/examples/${file.replace(/\.json$/, '.png')}`);
			expect(textOf('docs/pt-BR.md')).toContain(file);
		},
	);
});
