import escapeRegExp from 'lodash/escapeRegExp';

/** Takes the tokens of an account out of what came from outside, whatever the case of their letters. */
export interface Redactor {
	/** Replaces the tokens in a text; one that holds a token escaped is replaced as a whole. */
	text(text: string): string;
	/** The same for the texts, names and numbers of parsed JSON, in place: it may be large. */
	json(value: unknown): unknown;
}

const REPLACEMENT = '[token removed]';
const TEXT_REPLACEMENT = '[text removed: it contains a token]';
const SHORTEST_TOKEN = 4;
const MOST_LAYERS = 8;
/** With what stands next to it, either end of a token may look like an escape; none is longer. */
const EDGE = 5;

/** Without groups, which would make it several times slower. */
const ESCAPE = /%[\da-f]{2}|(?<!\\)\\+u[\da-f]{4}|&(?:#x[\da-f]+|#\d+|[a-z]{2,24});/g;
const UNSEEN = /[^\x20-\x7e]+/g;
/** The HTML standard's names for ASCII signs: some encoders write a name for each of them. */
const HTML_NAMES = new Map(
	`amp& lt< gt> quot" apos' excl! num# dollar$ percnt% lpar( rpar) ast* midast* plus+ comma, period.
	sol/ colon: semi; equals= quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ underbar_
	grave${'`'} diacriticalgrave${'`'} lcub{ lbrace{ vert| verbar| verticalline| rcub} rbrace}`
		.split(/\s+/)
		.map((named) => [named.slice(0, -1), named.slice(-1)] as const),
).set('fjlig', 'fj');

/**
 * Makes the redactor of an account's tokens. A service may echo a request with its headers, so
 * everything that comes back passes through it first. A token that is split over several texts, or
 * encoded in another way (base64), is not found.
 */
export function createRedactor(tokens: ReadonlyArray<string | undefined>): Redactor {
	const words = tokens.filter((token) => token !== undefined).filter(isLong);
	// One may be the beginning of the other.
	words.sort((a, b) => b.length - a.length);
	const asItIs = new RegExp(words.map(escapeRegExp).join('|') || '(?!)', 'gi');
	const numbers = new Set(words.map(Number));
	// A token may itself hold what looks like an escape.
	const whole = [...new Set(words.flatMap(readings))].filter(isLong);
	const inPart = whole.flatMap(withoutEdges);

	const cleanText = (text: string): string => {
		const clean = text.replace(asItIs, REPLACEMENT);
		const isHeld = readings(clean).some((reading, undone) =>
			(undone === 0 ? whole : inPart).some((word) => reading.includes(word)),
		);
		return isHeld ? TEXT_REPLACEMENT : clean;
	};
	/** Calls itself: an answer is cut at some levels before it is parsed. */
	const cleanJson = (value: unknown): unknown => {
		if (typeof value === 'string') return cleanText(value);
		if (typeof value === 'number') return numbers.has(Math.abs(value)) ? REPLACEMENT : value;
		if (Array.isArray(value)) {
			for (const [index, entry] of value.entries()) value[index] = cleanJson(entry);
		} else if (isObject(value)) {
			for (const [name, entry] of Object.entries(value)) {
				const cleanName = cleanText(name);
				if (cleanName !== name) delete value[name];
				value[cleanName] = cleanJson(entry);
			}
		}
		return value;
	};
	return { text: cleanText, json: cleanJson };
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}

function isLong({ length }: string): boolean {
	return length >= SHORTEST_TOKEN;
}

function withoutEdges(word: string): string[] {
	const edge = Math.min(EDGE, word.length - SHORTEST_TOKEN);
	const inner = word.slice(edge, word.length - edge);
	return isLong(inner) ? [inner] : [word.slice(edge), word.slice(0, word.length - edge)];
}

/**
 * A text in small letters, as it is and with more and more of its escapes undone, without backslashes:
 * JSON in JSON doubles them.
 */
function readings(text: string): string[] {
	const found: string[] = [];
	for (let plain = text.toLowerCase().replace(UNSEEN, ''); found.length <= MOST_LAYERS; ) {
		found.push(plain.replaceAll('\\', ''));
		const next = plain.replace(ESCAPE, undo);
		if (next === plain) break;
		plain = next;
	}
	return found;
}

/** What an escape stands for; nothing if no token consists of that. */
function undo(escape: string): string {
	if (/^&[a-z]/.test(escape)) return HTML_NAMES.get(escape.slice(1, -1)) ?? escape;
	const [digits = ''] = /[\da-f]+;?$/.exec(escape) ?? [];
	const code = parseInt(digits, /^&#\d/.test(escape) ? 10 : 16);
	return code >= 0x20 && code < 0x7f ? String.fromCharCode(code).toLowerCase() : '';
}
