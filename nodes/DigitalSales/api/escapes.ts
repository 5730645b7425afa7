import sortedIndex from 'lodash/sortedIndex';

/** A part of a text: from `start` up to, but not including, `end`. */
export interface Span {
	start: number;
	end: number;
}

/** One way to write characters as escapes, in upper or lower case. */
interface Escaping {
	/** What each of its escapes begins with. */
	mark: string;
	escapes: RegExp;
	/** The character behind an escape, or the escape itself where there is none. */
	characterOf: (escape: string) => string;
}

/** A link in a form that a web page quotes as JSON needs four. */
const MOST_LAYERS = 4;

/** What the HTML standard calls the signs of ASCII: some encoders write a name for each of them. */
const HTML_NAMES = new Map(
	`amp& lt< gt> quot" apos' excl! num# dollar$ percnt% lpar( rpar) ast* plus+ comma, period. sol/
	colon: semi; equals= quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ grave${'`'}
	lcub{ lbrace{ vert| verbar| rcub} rbrace}`
		.split(/\s+/)
		.map((named) => [named.slice(0, -1), named.slice(-1)] as const),
);

const JSON_TEXT: Escaping = {
	mark: '\\',
	escapes: /\\(?:u[\da-f]{4}|["\\/])/gi,
	characterOf: (escape) =>
		escape.length > 2 ? String.fromCharCode(parseInt(escape.slice(2), 16)) : escape.slice(1),
};

const PERCENT: Escaping = {
	mark: '%',
	escapes:
		/%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f](?:%[89ab][\da-f]){2}|f[0-7](?:%[89ab][\da-f]){3})/gi,
	characterOf: (escape) => {
		try {
			return decodeURIComponent(escape);
		} catch {
			return escape;
		}
	},
};

const HTML: Escaping = {
	mark: '&',
	escapes: new RegExp(`&(?:#\\d+|#x[\\da-f]+|${[...HTML_NAMES.keys()].join('|')});`, 'gi'),
	characterOf: (escape) => {
		const name = escape.slice(1, -1).toLowerCase();
		if (!name.startsWith('#')) return HTML_NAMES.get(name) ?? escape;
		const code = name.startsWith('#x') ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
		return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
	},
};

/**
 * Finds words in a text, also where they were escaped for JSON, URLs or HTML, in any order and up to
 * four layers deep. Each way to undo the layers is tried by itself: undone at once, a word that holds
 * something like an escape would be missed.
 *
 * @returns the parts of the text that stand for the words; they may overlap
 */
export function findEscaped(
	text: string,
	words: readonly string[],
	layers: number = MOST_LAYERS,
): Span[] {
	const found = words.map((word) => occurrences(text, word));
	for (const escaping of layers === 0 ? [] : [JSON_TEXT, PERCENT, HTML]) {
		if (!text.includes(escaping.mark)) continue;
		const plain = text.replace(escaping.escapes, escaping.characterOf);
		if (plain === text) continue;
		const inner = findEscaped(plain, words, layers - 1);
		if (inner.length > 0) found.push(inEscaped(inner, text, escaping));
	}
	return found.flat();
}

function occurrences(text: string, word: string): Span[] {
	const spans: Span[] = [];
	let start = text.indexOf(word);
	while (start >= 0) {
		const end = start + word.length;
		spans.push({ start, end });
		start = text.indexOf(word, end);
	}
	return spans;
}

/** Moves parts of a text back to where they stand with its escapes. */
function inEscaped(spans: Span[], text: string, { escapes, characterOf }: Escaping): Span[] {
	/** Where the character of each escape stands, and by how much the text is longer up to its end. */
	const starts: number[] = [];
	const lengthened: number[] = [];
	let longer = 0;
	for (const { 0: escape, index } of text.matchAll(escapes)) {
		starts.push(index - longer);
		longer += escape.length - characterOf(escape).length;
		lengthened.push(longer);
	}
	const moved = (position: number): number =>
		position + (lengthened[sortedIndex(starts, position) - 1] ?? 0);
	return spans.map(({ start, end }) => ({ start: moved(start), end: moved(end) }));
}
