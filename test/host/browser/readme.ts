import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../n8n/paths';

/** The way to the first charge and the first sale, in each language. */
const WAYS = [
	['README.md', '## Your first paid charge', '**That is all you need to start.'],
	['docs/pt-BR.md', '## Sua primeira cobrança paga', '**Para começar, é só isso.'],
].map(([page = '', begin = '', end = '']): [page: string, way: string] => {
	const text = readFileSync(path.join(ROOT, page), 'utf8');
	return [page, text.slice(text.indexOf(begin), text.indexOf(end))];
});

/** A name on the screen that the README and the page in Portuguese tell to use on the way. */
export function told(name: string): string {
	const silent = WAYS.filter(([, way]) => !way.includes(`**${name}**`));
	for (const [page] of silent) throw new Error(`${page} does not say "${name}"`);
	return name;
}
