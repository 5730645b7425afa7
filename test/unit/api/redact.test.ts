import * as fc from 'fast-check';
import { createRedactor } from '../../../nodes/DigitalSales/api/redact';

const WAYS: Record<string, (token: string) => string> = {
	'as it is': (token) => token,
	'in capitals': (token) => token.toUpperCase(),
	'in JSON': (token) => JSON.stringify(token).slice(1, -1),
	'in a URL': encodeURIComponent,
	'in a URL, in small letters': (token) => encodeURIComponent(token).toLowerCase(),
};

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'];
const SIGNS = [...'|/+=.-_~%&"<>\'\\'];
const token = fc
	.array(fc.oneof(fc.constantFrom(...LETTERS), fc.constantFrom(...SIGNS)), {
		minLength: 8,
		maxLength: 24,
	})
	.map((signs) => signs.join(''))
	.filter((text) => !'[token removed]'.includes(text.toLowerCase()));

describe('A token', () => {
	test.each(Object.entries(WAYS))('is removed from a text %s', (_name, write) => {
		fc.assert(
			fc.property(token, (secret) => {
				expect(createRedactor([secret]).text(`before ${write(secret)}, after`)).toBe(
					'before [token removed], after',
				);
			}),
			{ numRuns: 40 },
		);
	});

	test('is removed from texts, names and numbers of JSON, and the rest stays', () => {
		const echo = `{"a":["12345678",[12345678,-12345678,123456789],"12345679"],
			"id 12345678":{"b":null},"__proto__":{"c":"12345678"}}`;

		const clean = createRedactor(['12345678']).json(JSON.parse(echo));

		expect(JSON.stringify(clean)).toBe(
			'{"a":["[token removed]",["[token removed]","[token removed]",123456789],"12345679"],' +
				'"__proto__":{"c":"[token removed]"},"id [token removed]":{"b":null}}',
		);
	});

	test('does not change the indexes of a list', () => {
		const list = Array.from({ length: 1_300 }, () => 'x');
		expect(createRedactor(['1234']).json([...list])).toEqual(list);
	});

	test('is removed as a whole if it begins with another token', () => {
		expect(createRedactor(['test-token', 'test-token-long']).text('test-token-long b')).toBe(
			'[token removed] b',
		);
	});

	test('is not removed if it has three characters', () => {
		expect(createRedactor(['abc', 'abcd', '']).text('abc abcd')).toBe('abc [token removed]');
		expect(createRedactor([]).text('about')).toBe('about');
	});
});

test('JSON without a token stays unchanged', () => {
	fc.assert(
		fc.property(fc.json({ maxDepth: 5 }), (text) => {
			const clean = createRedactor(['12|AbCdEfGh']).json(JSON.parse(text));
			expect(JSON.stringify(clean)).toBe(JSON.stringify(JSON.parse(text)));
		}),
	);
});
