import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const FILE = path.resolve(__dirname, '..', '..', 'docs', 'measurements.md');

/**
 * Writes a section of docs/measurements.md, and replaces a section with the same title.
 *
 * @param body Markdown as Prettier formats it
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

const COLUMNS = ['what was done', 'runs', 'what came of it'] as const;

type Row = [what: string, runs: string, outcome: string];

/** Prints a table of what a test file measured. With WRITE_MEASUREMENTS=1, it also updates docs/measurements.md. */
export class Figures {
	private readonly rows: Row[] = [];

	constructor(
		private readonly title: string,
		private readonly command: string,
	) {}

	add(what: string, runs: number, outcome: string): void {
		this.rows.push([what, runs.toLocaleString('en-US'), outcome]);
	}

	/** Call it at the end of the test file. */
	show(): void {
		const table = markdownTable(COLUMNS, this.rows);
		process.stdout.write(`\n${this.title}\n\n${table}\n`);
		if (process.env.WRITE_MEASUREMENTS === '1') this.keep(table);
	}

	private keep(table: string): void {
		writeSection(this.title, `Made by \`WRITE_MEASUREMENTS=1 ${this.command}\`.\n\n${table}`);
	}
}

/** Padded as Prettier pads a table. */
export function markdownTable(
	columns: readonly string[],
	rows: ReadonlyArray<readonly string[]>,
): string {
	const widths = columns.map((name, column) =>
		Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
	);
	const line = (cells: readonly string[]): string =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	const rule = widths.map((width) => '-'.repeat(width));
	return [line(columns), line(rule), ...rows.map(line)].join('\n');
}
