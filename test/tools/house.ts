import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../host/n8n/paths';

const SHIPPED = ['nodes', 'credentials', 'vendor'];

/** What starts each of the flows, by how its file is named now or was named before. */
const FLOWS = {
	'Create PIX': /transaction\/create\.operation\.ts$/,
	'Transaction > Get': /transaction\/get\.operation\.ts$/,
	'a notice': /\/receive\.ts$/,
	'Wait for Payment': /waitForPayment\.operation\.ts$/,
};
const NO_CODE = /^\s*($|\/\/|\/?\*)/;

/**
 * Prints how large the house is, at any commit: `npm run check -- house <commit> <commit>`, and the working
 * tree after them. An import closure is a file with all that it imports, types included.
 */
function main(commits: string[]): void {
	const columns = [...commits.map((commit) => figuresAt(commit)), figuresIn(ROOT)];
	const names = [...commits, 'now'];
	const rows = [...(columns[0]?.keys() ?? [])];
	const widths = [Math.max(...rows.map((row) => row.length)), ...names.map(() => 22)];
	const line = (cells: string[]): string =>
		cells.map((cell, nth) => cell.padEnd(widths[nth] ?? 0)).join('  ');
	process.stdout.write(`${line(['', ...names])}\n`);
	for (const row of rows) {
		process.stdout.write(`${line([row, ...columns.map((column) => column.get(row) ?? '')])}\n`);
	}
}

function figuresAt(commit: string): Map<string, string> {
	const folder = mkdtempSync(path.join(tmpdir(), 'digital-sales-house-'));
	try {
		const archive = execFileSync('git', ['archive', commit, ...SHIPPED], {
			cwd: ROOT,
			maxBuffer: 1e9,
		});
		execFileSync('tar', ['-x', '-C', folder], { input: archive });
		return figuresIn(folder);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function figuresIn(folder: string): Map<string, string> {
	const files = new Map(
		SHIPPED.flatMap((part) =>
			readdirSync(path.join(folder, part), { recursive: true, encoding: 'utf8' }).map((name) =>
				path.join(part, name),
			),
		)
			.filter((name) => name.endsWith('.ts'))
			.map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
	);
	const lines = (names: Iterable<string>): number =>
		[...names].reduce((sum, name) => sum + (files.get(name)?.split('\n').length ?? 1) - 1, 0);
	const texts = [...files.values()];
	const count = (pattern: RegExp): number =>
		texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
	const code = texts.flatMap((text) => text.split('\n')).filter((line) => !NO_CODE.test(line));
	const state = files.get('nodes/DigitalSales/api/processState.ts');
	const figures = new Map([
		['files', String(files.size)],
		['lines', String(lines(files.keys()))],
		['lines of code', String(code.length)],
		[
			'process-wide states',
			String(state?.match(/new (?:Bounded)?(?:Map|Set)</g)?.length ?? count(/processWide\(/g)),
		],
	]);
	for (const [flow, pattern] of Object.entries(FLOWS)) {
		const start = [...files.keys()].find((name) => pattern.test(name));
		const reached = start === undefined ? new Set<string>() : closure(start, files);
		figures.set(`import closure of ${flow}`, `${reached.size} files, ${lines(reached)} lines`);
	}
	return figures;
}

function closure(start: string, files: Map<string, string>): Set<string> {
	const reached = new Set([start]);
	for (const name of reached) {
		for (const [, specifier = ''] of (files.get(name) ?? '').matchAll(/from '(\.[^']*)'/g)) {
			const imported = `${path.join(path.dirname(name), specifier)}.ts`;
			if (files.has(imported)) reached.add(imported);
		}
	}
	return reached;
}

main(process.argv.slice(2));
