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

/** As PHP's htmlentities writes them for HTML 5. */
const NAMES: Record<string, string> = {
	...{ '!': 'excl', '"': 'quot', '#': 'num', $: 'dollar', '%': 'percnt', '&': 'amp', "'": 'apos' },
	...{ '(': 'lpar', ')': 'rpar', '*': 'ast', '+': 'plus', ',': 'comma', '.': 'period', '/': 'sol' },
	...{
		':': 'colon',
		';': 'semi',
		'<': 'lt',
		'=': 'equals',
		'>': 'gt',
		'?': 'quest',
		'@': 'commat',
	},
	...{ '[': 'lbrack', '\\': 'bsol', ']': 'rsqb', '^': 'Hat', _: 'lowbar', '`': 'grave' },
	...{ '{': 'lbrace', '|': 'vert', '}': 'rcub' },
};

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

/** How somebody who has found an encoded token would read it; written apart from the code. */
const UNDO: Encoder[] = [
	(text) =>
		text.replace(/\\u[\da-f]{4}|\\["\\/bfnrt]/gi, (escape): string =>
			String(JSON.parse(`"${escape.toLowerCase()}"`)),
		),
	(text) =>
		text.replace(/%[\da-f]{2}/gi, (escape) => String.fromCharCode(Number(`0x${escape.slice(1)}`))),
	(text) =>
		text.replace(/&(#x?)?([\da-z]+);/gi, (escape, number: string | undefined, name: string) => {
			if (number === undefined) {
				return Object.keys(NAMES).find((character) => NAMES[character] === name) ?? escape;
			}
			const value = Number(number === '#' ? name : `0x${name}`);
			return value < 128 ? String.fromCharCode(value) : escape;
		}),
];

function isReadable(text: string, token: string, layers: number): boolean {
	if (text.includes(token)) return true;
	if (layers === 0) return false;
	return UNDO.map((undo) => undo(text)).some(
		(plain) => plain !== text && isReadable(plain, token, layers - 1),
	);
}

/** What the client makes of an answer of the service. */
const answered = (text: string, ...tokens: string[]): unknown =>
	readResponse({ status: 200, headers: {}, text }, createRedactor(tokens)).body;

const TOKEN = '12|AbCdEfGh/+x=.-_~%&"<>\'\\Z9==';
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const SIGNS = [...'|/+=.-_~%&"<>\'\\'];
const token = fc
	.array(fc.oneof(fc.constantFrom(...LETTERS), fc.constantFrom(...SIGNS)), {
		minLength: 8,
		maxLength: 24,
	})
	.map((characters) => characters.join(''))
	.filter((text) => !'[token removed]'.includes(text));

describe('A token in an answer', () => {
	test('is taken out in every way to write it three deep', () => {
		const redact = createRedactor([TOKEN]);
		const leaks: string[] = [];
		const write = (text: string, ways: string[]): void => {
			if (redact.text(`before ${text} after`) !== 'before [token removed] after') {
				leaks.push(ways.join(', then '));
			}
			if (ways.length === 3) return;
			for (const name of NAMES_OF_ENCODERS) write(encode(text, [name]), [...ways, name]);
		};
		write(TOKEN, []);
		expect(leaks).toEqual([]);
	});

	test('is taken out whatever it is made of and whatever stands around it', () => {
		const around = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...SIGNS, '\\u', '&#'));
		const ways = fc.array(fc.constantFrom(...NAMES_OF_ENCODERS), { maxLength: 3 });
		fc.assert(
			fc.property(token, around, around, ways, fc.boolean(), (secret, a, b, names, isWhole) => {
				const text = isWhole ? encode(a + secret + b, names) : a + encode(secret, names) + b;
				const clean = createRedactor([secret]).text(text);
				expect(isReadable(clean, secret, 4)).toBe(false);
				expect(!isWhole || clean.includes('[token removed]')).toBe(true);
			}),
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
	])('is taken out of %s', (_name, encoders) => {
		const text = encoders.reduce((encoded, encoder) => encoder(encoded), `"${TOKEN}", `);
		expect(createRedactor([TOKEN]).text(text)).not.toBe(text);
		expect(isReadable(createRedactor([TOKEN]).text(text), TOKEN, 5)).toBe(false);
	});

	test.each(['!"#$%&\'()*+,./:;<=>?@[\\]^_`{|}', '[]{}|'])(
		'%s is found by the names of its signs',
		(signs) => {
			const { text } = createRedactor([signs]);
			const other: Record<string, string> = { lbrack: 'lsqb', rsqb: 'rbrack', lbrace: 'LCUB' };
			const names = [...signs].map((sign) => NAMES[sign] ?? '');
			expect(text(names.map((name) => `&${name};`).join(''))).toBe('[token removed]');
			const others = names.map(
				(name) => other[name] ?? name.replace('rcub', 'rbrace').replace('vert', 'verbar'),
			);
			expect(text(others.map((name) => `&${name};`).join(''))).toBe('[token removed]');
			const long: Record<string, string> = {
				...{ vert: 'VerticalLine', lowbar: 'UnderBar', ast: 'midast', grave: 'DiacriticalGrave' },
			};
			expect(text(names.map((name) => `&${long[name] ?? name};`).join(''))).toBe('[token removed]');
		},
	);

	test.each<[string, string, unknown]>([
		['as it is', `{"x":"a 12|AbC/+= b"}`, { x: 'a [token removed] b' }],
		['with \\/ for a slash', `{"x":"12|AbC\\/+="}`, { x: '[token removed]' }],
		['with escapes of its letters', `{"x":"12|\\u0041bC/+\\u003D"}`, { x: '[token removed]' }],
		['in a list in a list', `[["12|AbC/+=", 7]]`, [['[token removed]', 7]]],
		['alone', `"12|AbC/+="`, '[token removed]'],
		[
			'in JSON in a text',
			JSON.stringify({ x: `{"t":"12|AbC\\/+=", "u":1}` }),
			{ x: `{"t":"[token removed]", "u":1}` },
		],
		['in a link', `{"x":"/a?t=12%7cAbC%2f%2B%3d&b=%20"}`, { x: '/a?t=[token removed]&b=%20' }],
		['twice', `{"x":"12|AbC/+=,12%7CAbC/+="}`, { x: '[token removed],[token removed]' }],
		[
			'in names',
			`{"a":1,"t 12|AbC/+=":{"12%7CAbC/+=":2},"__proto__":{"__proto__":"x12|AbC/+="}}`,
			JSON.parse(
				`{"a":1,"__proto__":{"__proto__":"x[token removed]"},"t [token removed]":{"[token removed]":2}}`,
			),
		],
	])('is taken out %s', (_name, text, body) => {
		expect(JSON.stringify(answered(text, '12|AbC/+='))).toBe(JSON.stringify(body));
	});

	test('is found where one name stands for two of its letters', () => {
		expect(createRedactor(['12|abfjcd']).text('a 12|ab&fjlig;cd b')).toBe('a [token removed] b');
	});

	test.each([
		['off 50%12%7CAbCdEf', '12|AbCdEf'],
		['off 50%12%257CAb%43dEf', '12|AbCdEf'],
		['off 50%ff%2FAbCdEf', 'ff/AbCdEf'],
		['%%12|AbCdEf', '12|AbCdEf'],
	])(
		'is found right behind a percent sign, though that looks like an escape: %s',
		(text, token) => {
			expect(createRedactor([token]).text(text)).toMatch(/^[^|/]*%\[token removed\]$/);
		},
	);

	test('with letters of another case is another text', () => {
		expect(answered('{"x":"12|ABC/+= 12%7cabc%2f%2b%3d"}', '12|AbC/+=')).toEqual({
			x: '12|ABC/+= 12%7cabc%2f%2b%3d',
		});
	});

	test('leaves escapes alone that are not its own', () => {
		const text =
			'100% &nbsp;&amp; \\u00e7 %zz %c3%28 %c0%af %ed%a0%80 %f4%90%80%80 &#x110000; &#99999999999; \\';
		expect(createRedactor(['12|AbC/+=']).text(`${text.replaceAll(' ', '')}12%7CAbC/+=`)).toBe(
			`${text.replaceAll(' ', '')}[token removed]`,
		);
		expect(answered(JSON.stringify({ x: text }), '12|AbC/+=')).toEqual({ x: text });
	});

	test('beyond ASCII is taken out of links and pages, too', () => {
		expect(
			createRedactor(['ção-😀-key']).text(
				'%C3%a7%C3%A3o-%f0%9F%98%80-key &#231;&#xE3;o-&#128512;-key',
			),
		).toBe('[token removed] [token removed]');
	});

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

	test('is taken out whole where another is the beginning or the end of it', () => {
		const redact = createRedactor(['test-token', 'test-token-long', 'long-tail', 'test-token']);
		expect(redact.text('a test-token-long b test-token c test-token-long-tail')).toBe(
			'a [token removed] b [token removed] c [token removed]',
		);
	});

	test('is left where it is too short to be one', () => {
		expect(createRedactor(['ab', undefined, '']).text('about')).toBe('about');
		expect(createRedactor(['abc', 'abcd']).text('abc abcd')).toBe('abc [token removed]');
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
