import * as fc from 'fast-check';
import { parseServiceWords, saysFailure } from '../../../nodes/DigitalSales/api/schemas/answer';

describe('The words of the platform', () => {
	test.each([
		[{ success: false, message: 'Bad', errors: ['A', 'B'] }, ['Bad', 'A', 'B'], {}],
		[{ message: 'Bad', errors: ['Bad'] }, ['Bad'], {}],
		[{ errors: [{ message: 'A' }, { other: 1 }] }, ['A'], {}],
		[{ errors: { price: ['x', 'y'], title: 'z' } }, [], { price: ['x', 'y'], title: ['z'] }],
		[{ errors: { 'cart.0.price': ['x'] } }, [], { 'cart.0.price': ['x'] }],
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
		expect(parseServiceWords(body)).toEqual({ messages, fields });
	});

	test('may belong to a field named like a property of every object', () => {
		const { fields } = parseServiceWords(
			JSON.parse('{"errors":{"__proto__":["A"],"constructor":["B"]}}'),
		);
		expect(Object.entries(fields)).toEqual([
			['__proto__', ['A']],
			['constructor', ['B']],
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
				const words = parseServiceWords(JSON.parse(JSON.stringify(body)));
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
