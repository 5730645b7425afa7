import { EscapeSearch, newEffort } from '../../../../nodes/DigitalSales/api/escapes';
import { createRedactor } from '../../../../nodes/DigitalSales/api/redact';

const TOKEN = '12|AbCdEfGhIjKlMnOpQrStUvWxYz0123456789';
const TOO_MANY = '[text removed: too many escapes]';
const NOTICE = 256 * 1024;
const ANSWER = 8 * 1024 * 1024;

/** Each order to undo the escapes of these gives another text. */
const COMMUTING = `${'\\'.repeat(32)}%2525252525&amp;amp;amp;amp;amp;`;
const CROSSED =
	'%26amp;%2526amp%3b&#37;2526&#x5c;u0026amp;\\u0025\\u0032\\u0035\\u005cu0025%255cu0026&#92;u0025';
const filled = (start: string, piece: string, length: number): string =>
	(start + piece.repeat(Math.ceil(length / piece.length))).slice(0, length);
/** Each piece is undone, or looked through, again and again. */
const PIECES = [
	'\\',
	'\\u005cu005c',
	'%25',
	'%c0%80',
	'%e4%b8%ad',
	'%26%2325%3b',
	'&a',
	'&amp;amp;',
	'12%7C',
];
const HOSTILE = [
	...PIECES.map((piece) => [CROSSED, piece] as const),
	...[CROSSED, '%c0%80', '%5c'].map((piece) => [COMMUTING, piece] as const),
];

/** How many steps a search of so many characters may take: what it is given, and its last try. */
const bound = (characters: number): number => newEffort().steps + 2 * characters;

function spent(texts: readonly string[]): { steps: number; unsearched: number } {
	const search = new EscapeSearch([TOKEN]);
	const effort = newEffort();
	const given = texts.reduce((sum, { length }) => sum + length / 4, effort.steps);
	const unsearched = texts.filter((text) => search.find(text, effort) === undefined).length;
	return { steps: given - effort.steps, unsearched };
}

describe('The search for tokens in escapes', () => {
	test.each(HOSTILE)('in a notice of %s and %s takes a bounded number of steps', (start, piece) => {
		const { steps } = spent([filled(start, piece, NOTICE)]);

		expect(steps).toBeLessThan(bound(NOTICE));
	});

	test('in an answer of 8 MB takes as many, and more only as it is longer', () => {
		const whole = filled(CROSSED, CROSSED, ANSWER);
		const short = filled(CROSSED, '%25', 200);

		expect(spent([whole])).toEqual({ steps: 0, unsearched: 1 });
		const { steps, unsearched } = spent(Array.from({ length: ANSWER / 200 }, () => short));
		expect(steps).toBeLessThan(newEffort().steps + ANSWER / 2);
		expect(unsearched).toBeGreaterThan(1_000);
	});

	test('tries no text twice that comes of several orders', () => {
		const layers = `${'\\'.repeat(4)}%2525&amp;amp;${'x'.repeat(50)}`;

		// Each of up to four layers: 26 texts in place of 120, three tries for each of them at most.
		expect(spent([layers]).steps).toBeLessThan(26 * 3 * 8);
	});

	test('is given up rather than half done: nothing of such a text is passed on', () => {
		const hostile = `${filled(CROSSED, '%5c%26', NOTICE)}${encodeURIComponent(TOKEN)}`;
		const redact = createRedactor([TOKEN]);

		expect(redact.text(hostile)).toBe(TOO_MANY);
		expect(redact.json({ [hostile]: hostile, after: '100% &amp; more', hash: 'ab12' })).toEqual({
			[TOO_MANY]: TOO_MANY,
			after: '100% &amp; more',
			hash: 'ab12',
		});
	});

	test('is shared by the texts of one answer, and begins anew with the next', () => {
		const hostile = filled(CROSSED, '%25', 200);
		const redact = createRedactor([TOKEN]);
		const clean = (): unknown => redact.json(Array.from({ length: 5_000 }, () => hostile));

		const first = clean();

		expect(first).toContain(hostile);
		expect(first).toContain(TOO_MANY);
		expect(clean()).toEqual(first);
	});

	test.each([
		['HTML', '<p class="x">Curso &amp; m&eacute;todo: <a href="/a%20b?c=1&d=%C3%A7">ver</a></p>\n'],
		['HTML of PHP', 'Promo&ccedil;&atilde;o de f&eacute;rias&nbsp;ver&atilde;o&comma; '],
		['links in Latin-1', '<a href="https://x.test/curso-de-fotografia%E7%E3o-pr%E1tica">ver</a>\n'],
		['JSON', '{\\"a\\":\\"https:\\/\\/x.test\\/a\\",\\"b\\":[1,\\"tr\\u00eas\\"]}'],
	])('finishes a page of 250 products with 25 kB of %s each', (_name, piece) => {
		const texts = Array.from({ length: 250 }, () => filled('', piece, 25_000));

		expect(spent(texts).unsearched).toBe(0);
	});
});
