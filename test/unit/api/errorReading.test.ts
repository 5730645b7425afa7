import * as fc from 'fast-check';
import { createRedactor } from '../../../nodes/DigitalSales/api/redact';
import { readServiceWords, saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';

describe('The words of the service', () => {
	test.each([
		[
			{ success: false, message: 'Bad', errors: ['A', 'B'] },
			{ messages: ['Bad', 'A', 'B'], fields: {} },
		],
		[
			{ success: false, message: 'Bad' },
			{ messages: ['Bad'], fields: {} },
		],
		[
			{ message: 'Bad', errors: { 'cart.0.price': ['x', 'y'], title: 'z' } },
			{ messages: ['Bad'], fields: { 'cart.0.price': ['x', 'y'], title: ['z'] } },
		],
		[
			{ errors: { cart: { 0: { price: ['x'] } } } },
			{ messages: [], fields: { 'cart.0.price': ['x'] } },
		],
		[{ error: 'Bad' }, { messages: ['Bad'], fields: {} }],
		[{ errors: [{ message: 'A' }, { other: 1 }] }, { messages: ['A'], fields: {} }],
		[
			{ message: 'Bad', errors: ['Bad'] },
			{ messages: ['Bad'], fields: {} },
		],
		['text', { messages: [], fields: {} }],
		[null, { messages: [], fields: {} }],
	])('%j', (body, expected) => {
		expect(readServiceWords(body)).toEqual(expected);
	});

	test('the twentieth text is the last, and 500 characters are the most of one', () => {
		const many = Array.from({ length: 25 }, (_, nth) => `text ${nth}`);
		const byField = Object.fromEntries(many.map((text, nth) => [`field${nth}`, text]));
		const nested = { cart: byField, last: 'x' };

		expect(readServiceWords({ errors: many }).messages).toEqual(many.slice(0, 20));
		expect(Object.keys(readServiceWords({ errors: byField }).fields)).toEqual(
			Object.keys(byField).slice(0, 20),
		);
		expect(Object.keys(readServiceWords({ errors: nested }).fields)).toEqual(
			Object.keys(byField)
				.slice(0, 20)
				.map((field) => `cart.${field}`),
		);
		expect(readServiceWords({ message: 'x'.repeat(501) }).messages).toEqual(['x'.repeat(500)]);
	});

	test.each([
		[{ message: 7 }, ['7'], {}],
		[{ message: ' Bad ' }, ['Bad'], {}],
		[{ message: '' }, [], {}],
		[{ message: true }, [], {}],
		[{ message: { message: 'Bad' } }, ['Bad'], {}],
		[{ message: 'A', error: 'B', errors: 'C' }, ['A', 'B', 'C'], {}],
		[{ errors: { price: ' ', title: null, cart: {} } }, [], {}],
		[{ errors: { price: [{ message: 'Bad' }] } }, [], { price: ['Bad'] }],
	])('%j says %j and %j', (body, messages, fields) => {
		expect(readServiceWords(body)).toEqual({ messages, fields });
	});

	test('nothing makes it throw, and what it gives is short', () => {
		fc.assert(
			fc.property(
				fc.oneof(fc.anything(), fc.record({ message: fc.anything(), errors: fc.anything() })),
				(body) => {
					const { messages, fields } = readServiceWords(body);
					expect(messages.every((text) => text.length <= 500)).toBe(true);
					expect(Object.keys(fields).length).toBeLessThanOrEqual(20);
				},
			),
		);
	});

	test('every text of either shape is found', () => {
		const text = fc.string({ minLength: 1, maxLength: 100 }).map((value) => `x${value.trim()}`);
		fc.assert(
			fc.property(fc.uniqueArray(text, { maxLength: 10 }), fc.boolean(), (texts, byField) => {
				const errors = byField
					? Object.fromEntries(texts.map((value, index) => [`field${index}`, [value]]))
					: texts;
				const { messages, fields } = readServiceWords({ success: false, errors });
				expect([...messages, ...Object.values(fields).flat()].sort()).toEqual([...texts].sort());
			}),
		);
	});

	test.each([
		[{ success: false }, true],
		[{ success: 'false' }, true],
		[{ success: true }, false],
		[{ data: [] }, false],
		[[], false],
		[null, false],
	])('%j says failure: %p', (body, expected) => {
		expect(saysFailure(body)).toBe(expected);
	});
});

describe('Tokens in a text', () => {
	test('are taken out in every spelling that JSON and URLs have for them', () => {
		const token = fc.string({ minLength: 8, maxLength: 40 }).map((value) => `test/"${value}`);
		fc.assert(
			fc.property(token, fc.string(), fc.string(), (secret, before, after) => {
				const redact = createRedactor([secret]);
				const spellings = [
					secret,
					JSON.stringify(secret),
					JSON.stringify(secret).replaceAll('/', '\\/'),
					encodeURIComponent(secret),
				];
				for (const spelling of spellings) {
					expect(redact(`${before} ${spelling} ${after}`)).not.toContain(
						spelling.replace(/^"|"$/g, ''),
					);
				}
			}),
		);
	});

	test('are taken out whole where one is the beginning of the other', () => {
		const redact = createRedactor(['test-token', 'test-token-long']);
		expect(redact('a test-token-long b test-token c')).toBe(
			'a [token removed] b [token removed] c',
		);
	});

	test('are left where they are too short to be one', () => {
		expect(createRedactor(['ab', undefined, ''])('about')).toBe('about');
	});
});
