import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../n8n/paths';

const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const [FIRST_SCREEN = ''] = (README.split('## Your first paid charge')[1] ?? '').split('\n## ');

/** A name on the screen that the README's first screen tells to use. */
export function told(name: string): string {
	if (!FIRST_SCREEN.includes(`**${name}**`)) throw new Error(`The README does not say "${name}"`);
	return name;
}
