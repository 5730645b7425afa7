import * as fc from 'fast-check';
import { createRedactor } from '../../../../nodes/DigitalSales/api/redact';
import { readResponse } from '../../../../nodes/DigitalSales/api/response';

type Encoder = (text: string) => string;

const code = (character: string): number => character.codePointAt(0) ?? 0;
const hex = (character: string): string => code(character).toString(16);
const unicode = (character: string): string => `\\u${hex(character).padStart(4, '0')}`;
const percent = (character: string): string => `%${hex(character).padStart(2, '0')}`;
const upperEscapes: Encoder = (text) =>
	text.replace(/\\u[\da-f]{4}|%[\da-f]{2}|&#x[\da-f]+;/g, (escape) =>
		escape.replace(/[a-f]/g, (digit) => digit.toUpperCase()),
	);
const lowerPercent: Encoder = (text) =>
	text.replace(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase());
const json: Encoder = (text) => JSON.stringify(text).slice(1, -1);
const form: Encoder = (text) => new URLSearchParams([['', text]]).toString().slice(1);
const html =
	(escape: (character: string) => string, which = /[^a-z\d]/gi): Encoder =>
	(text) =>
		text.replace(which, escape);

/** Signs with their names, as PHP's htmlentities writes them for HTML 5. */
const NAMES: Record<string, string> = Object.fromEntries(
	`!excl "quot #num $dollar %percnt &amp 'apos (lpar )rpar *ast +plus ,comma .period /sol :colon
	;semi <lt =equals >gt ?quest @commat [lbrack \\bsol ]rsqb ^Hat _lowbar ${'`'}grave {lbrace |vert
	}rcub`
		.split(/\s+/)
		.map((named) => [named.charAt(0), named.slice(1)]),
);

const ENCODERS: Record<string, Encoder> = {
	JSON: json,
	'JSON of PHP': (text) => json(text).replaceAll('/', '\\/'),
	'JSON, signs as \\u00xx': (text) => text.replace(/[^a-z\d]/gi, unicode),
	'JSON, signs as \\u00XX': (text) => upperEscapes(text.replace(/[^a-z\d]/gi, unicode)),
	'JSON, all as \\u00xx': (text) => text.replace(/./gs, unicode),
	'URL, %XX': encodeURIComponent,
	'URL, %xx': (text) => lowerPercent(encodeURIComponent(text)),
	'URL, every byte': (text) => text.replace(/./gs, percent),
	form,
	'HTML, names': html((character) => (NAMES[character] ? `&${NAMES[character]};` : character)),
	'HTML, five signs': html(
		(character) => (character === "'" ? '&#039;' : `&${NAMES[character]};`),
		/["&'<>]/g,
	),
	'HTML, decimal': html((character) => `&#${code(character)};`),
	'HTML, &#xhh;': html((character) => `&#x${hex(character)};`),
	'HTML, &#xHH;': (text) => upperEscapes(ENCODERS['HTML, &#xhh;']?.(text) ?? ''),
	'HTML, all, zeros before': html((character) => `&#x000${hex(character)};`, /./gs),
};
/** Each character in a way of its own. */
const mixed: Encoder = (text) =>
	[...text]
		.map((character, nth) =>
			[unicode, percent, html((one) => `&#${code(one)};`)][nth % 3]?.(character),
		)
		.join('');
const NAMES_OF_ENCODERS = Object.keys(ENCODERS);
const encode = (text: string, names: readonly string[]): string =>
	names.reduce((encoded, name) => ENCODERS[name]?.(encoded) ?? encoded, text);

/** What the client makes of an answer of the service. */
const answered = (text: string, ...tokens: string[]): unknown =>
	readResponse({ status: 200, headers: {}, text }, createRedactor(tokens)).body;

const TOKEN = '12|AbCdEfGh/+x=.-_~%&"<>\'\\Z9==';
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const SIGNS = [...'|/+=.-_~%&"<>\'\\'];
const REMOVED = '[text removed: it contains a token]';
const token = fc
	.array(fc.oneof(fc.constantFrom(...LETTERS), fc.constantFrom(...SIGNS)), {
		minLength: 8,
		maxLength: 24,
	})
	.map((characters) => characters.join(''))
	.filter((text) => !`[token removed] ${REMOVED}`.includes(text));

describe('A token in an answer', () => {
	test('is taken out in every way to write it three deep', () => {
		const redact = createRedactor([TOKEN]);
		const leaks: string[] = [];
		const write = (text: string, ways: string[]): void => {
			const clean = redact.text(`before ${text} after`);
			if (clean !== REMOVED && clean !== 'before [token removed] after') {
				leaks.push(ways.join(', then '));
			}
			if (ways.length === 3) return;
			for (const name of NAMES_OF_ENCODERS) write(encode(text, [name]), [...ways, name]);
		};
		write(TOKEN, []);
		expect(leaks).toEqual([]);
	});

	test('is taken out whatever it is made of and whatever stands around it', () => {
		const around = fc.oneof(
			fc.string({ maxLength: 8 }),
			fc.constantFrom(...SIGNS, '\\u', '&#', '%4', '&l', 'u0041', '41', 't;', '5;'),
		);
		const way = fc.constantFrom(...NAMES_OF_ENCODERS);
		const layer = fc.tuple(way, around, around);
		fc.assert(
			fc.property(
				token,
				around,
				around,
				fc.array(layer, { maxLength: 3 }),
				(secret, a, b, layers) => {
					const inner = layers.reduce((text, [name, c, d]) => c + encode(text, [name]) + d, secret);
					const text = a + inner + b;
					const clean = createRedactor([secret]).text(text);
					if (clean === REMOVED) return;
					expect(clean).toContain('[token removed]');
					expect(clean).not.toContain(secret);
					const putBack = clean.replaceAll('[token removed]', () => secret);
					expect(putBack.toLowerCase()).toBe(text.toLowerCase());
				},
			),
			{ numRuns: 3_000 },
		);
	});

	test.each<[string, Encoder[]]>([
		['four layers of JSON', [json, json, json, json]],
		[
			'a link in a form in JSON in a page',
			[encodeURIComponent, form, json, html((one) => `&#${code(one)};`)],
		],
		['signs written each in its own way', [mixed]],
		['itself with what is not seen between its letters', [(text) => [...text].join('\u200b')]],
		['the same in a link', [(text) => [...text].join('\u2060'), encodeURIComponent]],
		['letters of another case, in a link', [(text) => text.toUpperCase(), encodeURIComponent]],
	])('is taken out of %s', (_name, encoders) => {
		const text = encoders.reduce((encoded, encoder) => encoder(encoded), `"${TOKEN}", `);
		expect(createRedactor([TOKEN]).text(text)).toBe(REMOVED);
	});

	test.each(['!"#$%&\'()*+,./:;<=>?@[\\]^_`{|}', '[]{}|'])(
		'%s is found by the names of its signs',
		(signs) => {
			const { text } = createRedactor([signs]);
			const other: Record<string, string> = { lbrack: 'lsqb', rsqb: 'rbrack', lbrace: 'LCUB' };
			const names = [...signs].map((sign) => NAMES[sign] ?? '');
			expect(text(names.map((name) => `&${name};`).join(''))).toBe(REMOVED);
			const others = names.map(
				(name) => other[name] ?? name.replace('rcub', 'rbrace').replace('vert', 'verbar'),
			);
			expect(text(others.map((name) => `&${name};`).join(''))).toBe(REMOVED);
			const long: Record<string, string> = {
				...{ vert: 'VerticalLine', lowbar: 'UnderBar', ast: 'midast', grave: 'DiacriticalGrave' },
			};
			expect(text(names.map((name) => `&${long[name] ?? name};`).join(''))).toBe(REMOVED);
		},
	);

	test.each<[string, string, unknown]>([
		['as it is', `{"x":"a 12|AbC/+= b"}`, { x: 'a [token removed] b' }],
		['with \\/ for a slash', `{"x":"12|AbC\\/+="}`, { x: '[token removed]' }],
		['with escapes of its letters', `{"x":"12|\\u0041bC/+\\u003D"}`, { x: '[token removed]' }],
		['in a list in a list', `[["12|AbC/+=", 7]]`, [['[token removed]', 7]]],
		['alone', `"12|AbC/+="`, '[token removed]'],
		['in JSON in a text', JSON.stringify({ x: `{"t":"12|AbC\\/+=", "u":1}` }), { x: REMOVED }],
		['in a link', `{"x":"/a?t=12%7cAbC%2f%2B%3d&b=%20"}`, { x: REMOVED }],
		['twice', `{"x":"12|AbC/+=,12|abc/+="}`, { x: '[token removed],[token removed]' }],
		['in two ways', `{"x":"12|AbC/+=,12%7CAbC/+="}`, { x: REMOVED }],
		[
			'in names',
			`{"a":1,"t 12|AbC/+=":{"12%7CAbC/+=":2},"__proto__":{"__proto__":"x12|AbC/+="}}`,
			JSON.parse(
				`{"a":1,"__proto__":{"__proto__":"x[token removed]"},"t [token removed]":{"${REMOVED}":2}}`,
			),
		],
	])('is taken out %s', (_name, text, body) => {
		expect(JSON.stringify(answered(text, '12|AbC/+='))).toBe(JSON.stringify(body));
	});

	test('is found where one name stands for two of its letters', () => {
		expect(createRedactor(['12|abfjcd']).text('a 12|ab&fjlig;cd b')).toBe(REMOVED);
	});

	test.each([
		['off 50%12%7CAbCdEf', '12|AbCdEf'],
		['off 50%12%257CAb%43dEf', '12|AbCdEf'],
		['off 50%ff%2FAbCdEf', 'ff/AbCdEf'],
	])(
		'is found right behind a percent sign, though that looks like an escape: %s',
		(text, found) => {
			expect(createRedactor([found]).text(text)).toBe(REMOVED);
		},
	);

	test('of digits is taken out of numbers, and the rest stays what it was', () => {
		expect(
			answered('{"a":1234567,"b":[-1234567,12345678,1.234567e6],"c":"id 1234567"}', '1234567'),
		).toEqual({
			a: '[token removed]',
			b: ['[token removed]', 12345678, '[token removed]'],
			c: 'id [token removed]',
		});
		const digits = '12345678901234567890';
		expect(answered(`[${digits}]`, digits)).toEqual(['[token removed]']);
	});

	test('does not change the places of a list, however they are numbered', () => {
		const list = Array.from({ length: 1_300 }, (_, nth) => `n${nth}`);
		expect(answered(JSON.stringify(list), '1234')).toEqual(
			list.map((text) => (text === 'n1234' ? 'n[token removed]' : text)),
		);
	});

	test('is taken out whole where another is the beginning of it', () => {
		const redact = createRedactor(['test-token', 'test-token-long', 'test-token']);
		expect(redact.text('a test-token-long b test-token')).toBe(
			'a [token removed] b [token removed]',
		);
	});

	test('is left where it is too short to be one', () => {
		expect(createRedactor(['ab', undefined, '']).text('about')).toBe('about');
		expect(createRedactor(['abc', 'abcd']).text('abc abcd')).toBe('abc [token removed]');
	});
});

describe('A text with nothing to take out', () => {
	const PAGE =
		'<p class="x">Curso &amp; m&eacute;todo: <a href="/a%20b?c=1&d=%C3%A7">ver</a></p>\n';
	const JSON_TEXT = '{\\"a\\":\\"https:\\/\\/x.test\\/a\\",\\"b\\":[1,\\"tr\\u00eas\\"]}';
	const OTHERS = '100% %zz %c3%28 %c0%af %e4%b8%ad &#x110000; &#99999999999; \\ %2541 &unknown;';

	test.each([PAGE, JSON_TEXT, OTHERS])('stays what it is: %s', (text) => {
		expect(createRedactor([TOKEN]).text(text.repeat(300))).toBe(text.repeat(300));
	});

	/** Each is undone, or looked through, again and again. */
	test.each([
		...['%25', '%2541', '%41x', '%c0%80', '12%7C', '12|AbCdEf', '\u200b', 'a\u0301', PAGE],
		...['\\', '\\u0041', '\\\\u005cu005c'],
		...['&amp;', '&amp;amp;', '&#38;', '&#1', '&a', `&${'a'.repeat(40)}`],
		'%26amp;%2526amp%3b&#37;2526&#x5c;u0026amp;\\u0025\\u0032\\u0035\\u005cu0025%255cu0026',
	])('is looked through in linear time: %s', (piece) => {
		const { text } = createRedactor([TOKEN]);
		// The collection of garbage falls into some, and the first ones are slower.
		const timeFor = (length: number): number => {
			const long = piece.repeat(Math.ceil(length / piece.length));
			const took = [1, 2, 3, 4].map(() => {
				const before = process.cpuUsage();
				text(long);
				const { user, system } = process.cpuUsage(before);
				return user + system;
			});
			return Math.min(...took);
		};

		// By the square of the length it would be 256 times as long.
		expect(timeFor(80_000) / timeFor(5_000)).toBeLessThan(64);
	});
});

describe('JSON with nothing to take out', () => {
	test('stays what it is', () => {
		fc.assert(
			fc.property(fc.json({ maxDepth: 5 }), (text) => {
				expect(JSON.stringify(createRedactor([TOKEN]).json(JSON.parse(text)))).toBe(
					JSON.stringify(JSON.parse(text)),
				);
			}),
		);
	});

	test.each([
		['lists', '[', ']'],
		['objects', '{"a":', '}'],
	])('may be %s in each other, however deep', (_name, open, close) => {
		const nested = (token: string): string =>
			open.repeat(2_000) + JSON.stringify(token) + close.repeat(2_000);
		const clean: unknown = createRedactor([TOKEN]).json(JSON.parse(nested(TOKEN)));
		expect(JSON.stringify(clean)).toBe(nested('[token removed]'));
	});
});
