import sortedIndex from 'lodash/sortedIndex';

/** A part of a text: from `start` up to, but not including, `end`. */
export interface Span {
	start: number;
	end: number;
}

/**
 * How much work is left: a step is one escape undone, or {@link CHARACTERS_A_STEP} characters searched
 * for one. A hostile text has many orders in which its escapes can be undone.
 */
export interface Effort {
	steps: number;
}

/** One way to write characters as escapes, in upper or lower case. */
interface Escaping {
	/** What each of its escapes begins with. */
	mark: string;
	/** Finds escapes, and marks that begin none, since these take time, too. */
	escapes: RegExp;
	/** What an escape stands for, or the escape itself if that is nothing. */
	plainOf: (escape: string) => string;
}

/** A text with some of its escapes undone. */
interface Reading {
	text: string;
	/** Undefined for the text as it came. */
	from?: { reading: Reading; escaping: Escaping };
}

/** A link in a form that a web page quotes as JSON needs four. */
const MOST_LAYERS = 4;
/** These take about a tenth of a second; each text adds to them, since long pages need more. */
const STEPS_AT_FIRST = 524_288;
const STEPS_A_CHARACTER = 1 / 4;
const STEPS_OF_EACH_TRY = 4;
const CHARACTERS_A_STEP = 64;
const SHORTEST_ESCAPE = 2;

/** The HTML standard's names for ASCII signs: some encoders write a name for each of them. */
const HTML_NAMES = new Map(
	`amp& lt< gt> quot" apos' excl! num# dollar$ percnt% lpar( rpar) ast* midast* plus+ comma, period.
	sol/ colon: semi; equals= quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ underbar_
	grave${'`'} diacriticalgrave${'`'} lcub{ lbrace{ vert| verbar| verticalline| rcub} rbrace}`
		.split(/\s+/)
		.map((named) => [named.slice(0, -1), named.slice(-1)] as const),
).set('fjlig', 'fj');

const JSON_TEXT: Escaping = {
	mark: '\\',
	escapes: /\\(?:u[\da-f]{4}|["\\/])?/gi,
	plainOf: (escape) =>
		escape.length > 2 ? String.fromCharCode(parseInt(escape.slice(2), 16)) : escape.slice(1),
};

/** The bytes of one character in UTF-8; others cannot be decoded. */
const UTF_8 = [
	'[0-7]H',
	'(?:c[2-9a-f]|dH)%T',
	'e0%[ab]H%T',
	'e[1-9a-cef]%T%T',
	'ed%[89]H%T',
	'f0%[9ab]H%T%T',
	'f[1-3]%T%T%T',
	'f4%8H%T%T',
]
	.join('|')
	.replaceAll('T', '[89ab]H')
	.replaceAll('H', '[\\da-f]');

const PERCENT: Escaping = {
	mark: '%',
	escapes: new RegExp(`%(?:${UTF_8})?`, 'gi'),
	plainOf: (escape) =>
		escape.length === 3
			? String.fromCharCode(parseInt(escape.slice(1), 16))
			: decodeURIComponent(escape),
};

const HTML: Escaping = {
	mark: '&',
	escapes: new RegExp(`&(?:(?:#\\d+|#x[\\da-f]+|${[...HTML_NAMES.keys()].join('|')});)?`, 'gi'),
	plainOf: (escape) => {
		const name = escape.slice(1, -1).toLowerCase();
		if (!name.startsWith('#')) return HTML_NAMES.get(name) ?? escape;
		const code = name.startsWith('#x') ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
		return code <= 0x10ffff ? String.fromCodePoint(code) : escape;
	},
};

/** Every sign that an escape can consist of. */
const SIGNS_OF_ESCAPES = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\\"/%&#;';

/** What searching one answer or notice may take. */
export function newEffort(): Effort {
	return { steps: STEPS_AT_FIRST };
}

/** Finds words in texts, also if they are escaped for JSON, URLs or HTML. */
export class EscapeSearch {
	private readonly shortest: number;
	private readonly escapings: Escaping[];
	/** The UTF-16 codes of which an escaped word can consist. */
	private readonly codes: Set<number>;

	constructor(private readonly words: readonly string[]) {
		this.shortest = Math.min(...words.map(({ length }) => length));
		this.escapings = [JSON_TEXT, PERCENT, HTML, ...percentBefore(words)];
		const signs = SIGNS_OF_ESCAPES + words.join('');
		this.codes = new Set(Array.from({ length: signs.length }, (_, at) => signs.charCodeAt(at)));
	}

	/**
	 * Finds the words in any order of escapes, up to four layers deep. Each order is tried separately:
	 * undone all at once, a word that holds something like an escape would be missed.
	 *
	 * @returns the parts of the text that stand for the words, which may overlap; undefined if the
	 *   effort does not last
	 */
	find(text: string, effort: Effort): Span[] | undefined {
		effort.steps += text.length * STEPS_A_CHARACTER;
		const found = this.occurrences(text);
		for (const piece of this.pieces(text)) {
			const inner = this.findEscaped(text.slice(piece.start, piece.end), effort);
			if (!inner) return undefined;
			for (const { start, end } of inner) {
				found.push({ start: piece.start + start, end: piece.start + end });
			}
		}
		return found;
	}

	/** The parts of a text that can hold an escaped word, which is never shorter than the word. */
	private pieces(text: string): Span[] {
		const pieces: Span[] = [];
		let start = 0;
		for (let end = 0; end <= text.length; end++) {
			if (this.codes.has(text.charCodeAt(end))) continue;
			if (end - start >= this.shortest) pieces.push({ start, end });
			start = end + 1;
		}
		return pieces;
	}

	/** Finds the words in one piece, except those without escapes. */
	private findEscaped(text: string, effort: Effort): Span[] | undefined {
		const found: Span[][] = [];
		const seen = new Set([text]);
		let layer: Reading[] = [{ text }];
		for (let depth = 0; depth < MOST_LAYERS; depth++) {
			const next: Reading[] = [];
			for (const reading of layer) {
				for (const escaping of this.escapings) {
					if (!reading.text.includes(escaping.mark)) continue;
					if (reading.text.length / SHORTEST_ESCAPE > effort.steps) return undefined;
					const plain = undo(reading.text, escaping, effort);
					if (seen.has(plain)) continue;
					seen.add(plain);
					const inner = { text: plain, from: { reading, escaping } };
					next.push(inner);
					const spans = this.occurrences(plain);
					if (spans.length > 0) found.push(inText(spans, inner, effort));
				}
			}
			layer = next;
		}
		return found.flat();
	}

	private occurrences(text: string): Span[] {
		const spans: Span[] = [];
		for (const word of this.words) {
			let start = text.indexOf(word);
			while (start >= 0) {
				const end = start + word.length;
				spans.push({ start, end });
				start = text.indexOf(word, end);
			}
		}
		return spans;
	}
}

/** A literal percent sign right before a word that begins like a byte is no escape. */
function percentBefore(words: readonly string[]): Escaping[] {
	const heads = new Set(words.map((word) => word.slice(0, 2)));
	return [...heads]
		.filter((head) => /^[\da-f]{2}$/i.test(head))
		.map((head) => ({
			...PERCENT,
			mark: `%${head}`,
			escapes: new RegExp(`%(?!${head})(?:${UTF_8})?`, 'gi'),
		}));
}

function undo(
	text: string,
	{ escapes, plainOf }: Escaping,
	effort: Effort,
	onEscape?: (start: number, escape: string, plain: string) => void,
): string {
	effort.steps -= STEPS_OF_EACH_TRY + text.length / CHARACTERS_A_STEP;
	return text.replace(escapes, (escape: string, start: number) => {
		effort.steps--;
		const plain = escape.length === 1 ? escape : plainOf(escape);
		onEscape?.(start, escape, plain);
		return plain;
	});
}

/** Moves parts of a reading back to their places in the text as it came. */
function inText(spans: Span[], { from }: Reading, effort: Effort): Span[] {
	if (!from) return spans;
	/** Where each undone escape begins, and by how much the text is longer up to its end. */
	const starts: number[] = [];
	const lengthened: number[] = [];
	let longer = 0;
	undo(from.reading.text, from.escaping, effort, (start, escape, plain) => {
		starts.push(start - longer);
		longer += escape.length - plain.length;
		lengthened.push(longer);
	});
	effort.steps -= spans.length;
	const moved = (position: number): number =>
		position + (lengthened[sortedIndex(starts, position) - 1] ?? 0);
	return inText(
		spans.map(({ start, end }) => ({ start: moved(start), end: moved(end) })),
		from.reading,
		effort,
	);
}
