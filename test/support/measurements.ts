import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FILE = path.resolve(__dirname, '..', '..', 'docs', 'measurements.md');

/**
 * Puts a section into docs/measurements.md, in the place of the one with the same title if there is
 * one. All others stay.
 *
 * @param body Markdown below the heading, as the formatter of the documentation leaves it
 */
export function writeSection(title: string, body: string): void {
	const text = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '# Measurements\n';
	const [head = '', ...sections] = text.trimEnd().split(/\n(?=## )/);
	const others = sections.map((other) => other.trim());
	const place = others.findIndex((other) => other.startsWith(`## ${title}\n`));
	const section = `## ${title}\n\n${body.trim()}`;
	others.splice(place < 0 ? others.length : place, place < 0 ? 0 : 1, section);
	writeFileSync(FILE, `${[head.trim(), ...others].join('\n\n')}\n`);
}
