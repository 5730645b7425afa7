import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/ .*/g;

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

/** The turned-down words in a page or a source, each with what to write instead; of a test, in its comments. */
export function turnedDownInFile(file: string): string[] {
	const content = readFileSync(path.join(ROOT, file), 'utf8');
	if (file.endsWith('.md')) return turnedDownIn(proseOf(content));
	const comments = (content.match(COMMENT) ?? []).join(' ').replace(/\n\s*\*/g, ' ');
	if (file.startsWith('test/')) return findingsIn(comments, TURNED_DOWN);
	return [...findingsIn(comments, TURNED_DOWN), ...turnedDownIn(content.replace(COMMENT, ''))];
}

/** The turned-down words in a text for people, each with what to write instead. */
export function turnedDownIn(text: string): string[] {
	return findingsIn(text, [...TURNED_DOWN, ...FINE_IN_COMMENTS]);
}

/** Markdown without code and addresses. */
function proseOf(page: string): string {
	return page
		.replace(/```[\s\S]*?```/g, '')
		.replace(/`[^`\n]*`/g, '...')
		.replace(/\]\([^)]*\)/g, ']');
}

function findingsIn(text: string, turnedDown: Array<[RegExp, string]>): string[] {
	return turnedDown.flatMap(([words, better]) => {
		const found = words.exec(text);
		if (!found) return [];
		const around = text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40);
		return [`"${found[0]}" (better: ${better}) in: ${around.replace(/\s+/g, ' ')}`];
	});
}
