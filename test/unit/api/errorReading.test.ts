import * as fc from 'fast-check';
import { readServiceWords, saysFailure } from '../../../nodes/DigitalSales/api/schemas/error';

describe('The words of the platform', () => {
	test('are cut after 20 texts, and each text after 500 characters', () => {
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
		[{ success: false, message: 'Bad', errors: ['A', 'B'] }, ['Bad', 'A', 'B'], {}],
		[{ message: 'Bad', errors: ['Bad'] }, ['Bad'], {}],
		[{ errors: [{ message: 'A' }, { other: 1 }] }, ['A'], {}],
		[{ errors: { price: ['x', 'y'], title: 'z' } }, [], { price: ['x', 'y'], title: ['z'] }],
		[{ errors: { cart: { 0: { price: ['x'] } } } }, [], { 'cart.0.price': ['x'] }],
		['text', [], {}],
		[null, [], {}],
		[{ message: 7 }, ['7'], {}],
		[{ message: ' Bad ' }, ['Bad'], {}],
		[{ message: '' }, [], {}],
		[{ message: true }, [], {}],
		[{ message: { message: 'Bad' } }, ['Bad'], {}],
		[{ message: 'A', error: 'B', errors: 'C' }, ['A', 'B', 'C'], {}],
		[{ errors: [...Array(20).fill(' '), 'the 21st'] }, [], {}],
		[{ errors: { price: ' ', title: null, cart: {} } }, [], {}],
		[{ errors: { price: [{ message: 'Bad' }] } }, [], { price: ['Bad'] }],
	])('%j says %j and %j', (body, messages, fields) => {
		expect(readServiceWords(body)).toEqual({ messages, fields });
	});

	test('are at most 20 texts from all lists together', () => {
		const texts = Array.from({ length: 12 }, (_, nth) => `text ${nth}`);
		const { messages, fields } = readServiceWords({
			message: texts,
			errors: { price: texts, title: texts },
		});

		expect(messages).toEqual(texts);
		expect(fields).toEqual({ price: texts.slice(0, 8) });
	});

	test('keep their texts if the name of a field is cut after 100 characters', () => {
		const long = 'f'.repeat(100);

		expect(
			readServiceWords({ errors: { [`${long}1`]: ['A'], [`${long}2`]: ['B', 'A'] } }).fields,
		).toEqual({ [long]: ['A', 'B'] });
		expect(readServiceWords({ errors: { ['f'.repeat(99)]: { x: 'A' } } }).fields).toEqual({
			[`${'f'.repeat(99)}.`]: ['A'],
		});
	});

	test('are read eight levels deep', () => {
		const deep = (open: string, close: string) => (depth: number) =>
			JSON.parse(`${open.repeat(depth)}"A"${close.repeat(depth)}`) as unknown;
		const lists = deep('[', ']');
		const messages = deep('{"message":', '}');
		const fields = deep('{"f":', '}');

		for (const nested of [lists, messages]) {
			expect(readServiceWords({ message: nested(7) }).messages).toEqual(['A']);
			expect(readServiceWords({ message: nested(8) }).messages).toEqual([]);
			expect(readServiceWords({ message: nested(100_000) }).messages).toEqual([]);
		}
		expect(readServiceWords({ errors: fields(8) }).fields).toEqual({ 'f.f.f.f.f.f.f.f': ['A'] });
		expect(readServiceWords({ errors: fields(9) }).fields).toEqual({});
		expect(readServiceWords({ errors: fields(100_000) }).fields).toEqual({});
	});

	test('may belong to a field named like a property of every object', () => {
		const { fields } = readServiceWords(
			JSON.parse('{"errors":{"__proto__":["A"],"constructor":{"__proto__":"B"}}}'),
		);
		expect(Object.entries(fields)).toEqual([
			['__proto__', ['A']],
			['constructor.__proto__', ['B']],
		]);
	});

	test('are short for any JSON, and reading them never throws', () => {
		const name = fc.oneof(
			fc.constantFrom('message', 'error', 'errors', '__proto__', 'toString', 'x'.repeat(5_000)),
			fc.string(),
		);
		const { value } = fc.letrec<{ value: unknown }>((tie) => ({
			value: fc.oneof(
				{ maxDepth: 12 },
				fc.oneof(fc.string(), fc.double(), fc.constantFrom(null, true, 'y'.repeat(5_000))),
				fc.array(tie('value'), { maxLength: 30 }),
				fc.dictionary(name, tie('value')),
			),
		}));
		fc.assert(
			fc.property(fc.dictionary(name, value), (body) => {
				const words = readServiceWords(JSON.parse(JSON.stringify(body)));
				expect(JSON.stringify(words).length).toBeLessThan(100_000);
				expect(
					[...words.messages, ...Object.values(words.fields).flat()].length,
				).toBeLessThanOrEqual(20);
			}),
			{ numRuns: 40 },
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
