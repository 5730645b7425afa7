import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { z } from 'zod';

const ROOT = path.join(__dirname, '../../../..');

/** The files of a folder whose names end so, by their path in the project. */
export function filesOf(folder: string, end: string): string[] {
	return readdirSync(path.join(ROOT, folder), { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile() && entry.name.endsWith(end))
		.map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)))
		.filter((file) => !file.includes('node_modules') && !/\/(n8n|registry)-host\//.test(file));
}

function contentOf(file: string): string {
	return readFileSync(path.join(ROOT, file), 'utf8');
}

function parse(file: string): ts.SourceFile {
	return ts.createSourceFile(file, contentOf(file), ts.ScriptTarget.Latest, true);
}

/** The texts that a source builds: string literals, and templates with `...` for what is filled in. */
export function literalsOf(file: string): string[] {
	const found: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
		if (ts.isStringLiteralLike(node)) found.push(node.text);
		if (ts.isTemplateExpression(node)) {
			const spans = node.templateSpans.map(({ literal }) => literal.text);
			found.push([node.head.text, ...spans].join('...'));
		}
		ts.forEachChild(node, visit);
	};
	visit(parse(file));
	return found;
}

/** The comments of a source, each on one line. */
export function commentsOf(file: string): string[] {
	const source = parse(file);
	const text = source.text;
	const found = new Map<number, string>();
	const visit = (node: ts.Node): void => {
		const ranges = [
			...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
			...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
		];
		for (const { pos, end } of ranges) found.set(pos, text.slice(pos, end));
		for (const child of node.getChildren(source)) visit(child);
	};
	visit(source);
	return [...found.values()].map((comment) => comment.replace(/\s*\n\s*\*?\s*/g, ' '));
}

/** The prose of a page in Markdown, without code and addresses. */
export function proseOf(file: string): string {
	return contentOf(file)
		.replace(/```[\s\S]*?```/g, '')
		.replace(/`[^`\n]*`/g, '...')
		.replace(/\]\([^)]*\)/g, ']');
}

const exampleSchema = z.object({
	nodes: z.array(z.object({ type: z.string(), parameters: z.record(z.unknown()) })),
});

/** The sticky notes of an example workflow, and what it tells an agent. */
export function notesOf(file: string): string[] {
	const { nodes } = exampleSchema.parse(JSON.parse(contentOf(file)));
	return nodes.flatMap(({ parameters }) => {
		const { content, toolDescription, options } = parameters;
		const message = z.object({ systemMessage: z.string() }).safeParse(options).data;
		return [content, toolDescription, message?.systemMessage].filter(
			(text): text is string => typeof text === 'string',
		);
	});
}
