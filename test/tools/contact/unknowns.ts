import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../host/n8n/paths';

/** By the first cell of each row of docs/unknowns.md: its third cell, where it can be changed. */
export function whereToChange(): Map<string, string> {
	const page = readFileSync(path.join(ROOT, 'docs', 'unknowns.md'), 'utf8');
	// Further tables stand under headings of their own.
	const [text = ''] = page.split('\n## ');
	const rows = text.split('\n').filter((line) => line.startsWith('|'));
	const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
	// The first two are the heading and the line below it.
	return new Map(cells.slice(2).map(([, unknown = '', , where = '']) => [unknown, where]));
}
