import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';
import { everyOperation } from '../../support/operations';

const textOf = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');

test.each(['README.md', 'docs/pt-BR.md'])('%s has a place for each operation', (page) => {
	const text = textOf(page);
	const missing = everyOperation().filter(({ label }) => !text.includes(label));

	expect(everyOperation().length).toBeGreaterThan(4);
	expect(missing.map(({ label }) => `${label} is not described in ${page}`)).toEqual([]);
});
