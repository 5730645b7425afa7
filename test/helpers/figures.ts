const COLUMNS = ['what was done', 'runs', 'what came of it'] as const;

type Row = [what: string, runs: string, outcome: string];

/** Prints a table of what a test file counted. */
export class Figures {
	private readonly rows: Row[] = [];

	constructor(private readonly title: string) {}

	add(what: string, runs: number, outcome: string): void {
		this.rows.push([what, runs.toLocaleString('en-US'), outcome]);
	}

	/** Call it at the end of the test file. */
	show(): void {
		const table = markdownTable(COLUMNS, this.rows);
		process.stdout.write(`\n${this.title}\n\n${table}\n`);
	}
}

/** Padded as Prettier pads a table. */
function markdownTable(columns: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
	const widths = columns.map((name, column) =>
		Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
	);
	const line = (cells: readonly string[]): string =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
	const rule = widths.map((width) => '-'.repeat(width));
	return [line(columns), line(rule), ...rows.map(line)].join('\n');
}
