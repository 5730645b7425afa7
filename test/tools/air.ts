import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from '../helpers/n8n/paths';
import { say } from '../helpers/n8n/terminal';

const LONG_FUNCTION_LINES = 10;

const counts = { files: 0, lines: 0, inside: 0, blank: 0, renames: 0, ternaries: 0 };

function countFile(file: string): void {
	const text = readFileSync(file, 'utf8').trimEnd();
	const lines = text.split('\n');
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
	const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line;
	const inside = new Set<number>();
	const visit = (node: ts.Node): void => {
		if (ts.isBindingElement(node) && node.propertyName) counts.renames++;
		if (ts.isConditionalExpression(node)) counts.ternaries++;
		if (ts.isBlock(node) && ts.isFunctionLike(node.parent)) {
			const [first, last] = [lineOf(node.getStart()) + 1, lineOf(node.getEnd())];
			const isLong = last - first >= LONG_FUNCTION_LINES;
			for (let line = first; isLong && line < last; line++) inside.add(line);
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	counts.files++;
	counts.lines += lines.length;
	counts.inside += inside.size;
	counts.blank += [...inside].filter((line) => lines[line]?.trim() === '').length;
}

/** Prints how airy the code that ships is: paragraphs in its functions, renames and ternaries. */
function main(): void {
	for (const folder of ['nodes', 'credentials']) {
		const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
		for (const file of files) {
			if (file.endsWith('.ts')) countFile(path.join(ROOT, folder, file));
		}
	}

	const { files, lines, inside, blank, renames, ternaries } = counts;
	const perThousandLines = (count: number) => ((1_000 * count) / lines).toFixed(1);
	say(`files ${files}, lines ${lines}`);
	say(`blank lines in functions over ten lines: ${((100 * blank) / inside).toFixed(1)} %`);
	say(`renames per 1,000 lines: ${perThousandLines(renames)}`);
	say(`ternaries per 1,000 lines: ${perThousandLines(ternaries)}`);
}

main();
