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

const COLUMNS = ['what was done', 'runs', 'what came of it'] as const;

type Row = [what: string, runs: string, outcome: string];

/**
 * The figures of a test run: a table that is printed at its end, and kept in the documentation where
 * WRITE_MEASUREMENTS=1 is set. `title` names the table's section there.
 */
export class Figures {
	private readonly rows: Row[] = [];

	constructor(
		private readonly title: string,
		private readonly command: string,
	) {}

	add(what: string, runs: number, outcome: string): void {
		this.rows.push([what, runs.toLocaleString('en-US'), outcome]);
	}

	/** Prints the table; for the end of the test file. */
	show(): void {
		const table = markdownTable(COLUMNS, this.rows);
		process.stdout.write(`\n${this.title}\n\n${table}\n`);
		if (process.env.WRITE_MEASUREMENTS === '1') this.keep(table);
	}

	private keep(table: string): void {
		writeSection(this.title, `Made by \`WRITE_MEASUREMENTS=1 ${this.command}\`.\n\n${table}`);
	}
}

/** A table, padded as the formatter of the documentation pads it. */
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
