import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { INodeProperties, INodeTypeDescription } from 'n8n-workflow';
import ts from 'typescript';
import { z } from 'zod';
import { DigitalSalesApi } from '../../../../credentials/DigitalSalesApi.credentials';
import { DigitalSales } from '../../../../nodes/DigitalSales/DigitalSales.node';
import { DigitalSalesTrigger } from '../../../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { everyOperation } from '../../../support/samples';

export interface Form {
	/** Such as "Product > Get Many". */
	name: string;
	/** The values that choose the form; none for the trigger and the credential. */
	chosenBy: Readonly<Record<string, string>>;
	properties: INodeProperties[];
	/** The node that it belongs to; a credential has none. */
	description: INodeTypeDescription | null;
}

/** The action node, whose form depends on the chosen operation. */
export const action = new DigitalSales().description;

/** The fields by which an operation is chosen. */
export const CHOOSERS = ['resource', 'operation'];

const operationForms = everyOperation().map(({ resource, value: operation, label }): Form => {
	const properties = action.properties.filter(
		({ name, displayOptions: { show } = {} }) =>
			!CHOOSERS.includes(name) &&
			show?.resource?.includes(resource) &&
			show.operation?.includes(operation),
	);
	return { name: label, chosenBy: { resource, operation }, properties, description: action };
});

const trigger = new DigitalSalesTrigger().description;
const credential = new DigitalSalesApi();

/** Every form of the package. */
export const FORMS: Form[] = [
	...operationForms,
	{
		name: trigger.displayName,
		chosenBy: {},
		properties: trigger.properties,
		description: trigger,
	},
	{
		name: `Credential ${credential.displayName}`,
		chosenBy: {},
		properties: credential.properties,
		description: null,
	},
];

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

/** Words and constructions that nobody would say aloud, and what to write instead. */
const TURNED_DOWN: Array<[RegExp, string]> = [
	[/\bwho(m|so)?ever\b/i, 'anyone who, users'],
	[/\bthe one who\b/i, 'the person who, or a noun'],
	[/\bmanieth\b/i, 'a count: 429s so far'],
	[/\bshall\b/i, 'must, will, or the present tense'],
	[/\b(is|are|was|were|be) given up\b/i, 'stops, fails'],
	[/\b(service panel|panel of the service)\b/i, 'the dashboard'],
	[/\bon at first\b/i, 'on by default'],
	[/\bwithout a hand\b/i, 'unattended'],
	[/\bhas not (the|a|an)\b/i, 'is not, lacks'],
	[/\bc[ao]mes? to (nothing|pass)\b/i, 'fails, has no effect, happens'],
	[/\bwhat c[ao]mes? of\b/i, 'the outcome, the result'],
	[/\bwhere (it|there|they) (is|are|was|were|has|have|do|does|did) (not|no|none|nothing)\b/i, 'if'],
	[/\blest\b/i, 'so that ... not'],
	[/\banew\b/i, 'again, or a new ...'],
	[/\bhence\b/i, 'so'],
	[/\bfor ever\b/i, 'forever'],
	[/\bmend(s|ed|ing)?\b/i, 'fix'],
	[/\bunfold\b/i, 'expand'],
	[/\bWho is told\b/, 'Who to notify'],
	[/\b(instalment|behaviour|colour|favour|licence)/i, 'American spelling'],
	[
		/\b(recogni|authori|organi|seriali|normali|summari)s(e|es|ed|ing|ation)\b/i,
		'American spelling',
	],
];

/** Those that are fine in a comment, which speaks of code. */
const FINE_IN_COMMENTS: Array<[RegExp, string]> = [
	[/\b(one piece|how many pieces)\b/i, 'unit'],
	[/\bbeside it:/i, 'and'],
	[/\bby (itself|themselves)\b/i, 'automatically, directly, alone'],
	[/\bleft blank,/i, 'If you leave it blank,'],
	[/\bused up\b/i, 'limit reached'],
	[/\bgo(es|ing)? on\b/i, 'continues, keeps'],
	[/\bturn(s|ed)? away\b/i, 'rejects'],
	[/\bnot wanted\b/i, 'excluded'],
	[/\bnobody has listed\b/i, 'unlisted'],
	[/\bwaited for its turn\b/i, 'waited'],
];

/** The turned-down words in a comment, each with what to write instead. */
export function turnedDownInComment(text: string): string[] {
	return findingsIn(text, TURNED_DOWN);
}

/** The turned-down words in a text for people, each with what to write instead. */
export function turnedDownIn(text: string): string[] {
	return findingsIn(text, [...TURNED_DOWN, ...FINE_IN_COMMENTS]);
}

function findingsIn(text: string, turnedDown: Array<[RegExp, string]>): string[] {
	return turnedDown.flatMap(([words, better]) => {
		const found = words.exec(text);
		if (!found) return [];
		const around = text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40);
		return [`"${found[0]}" (better: ${better}) in: ${around.replace(/\s+/g, ' ')}`];
	});
}
