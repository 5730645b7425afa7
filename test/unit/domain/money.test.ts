import * as fc from 'fast-check';
import {
	formatReais,
	isHundredfold,
	parseCents,
	typedAmount,
} from '../../../nodes/DigitalSales/domain/money';
import { anyAmountText, clearReais, meaningOf } from '../../helpers/amountOracle';
import { sequences } from '../../helpers/extent';

const cents = fc.integer({ min: 0, max: 99_999_999_999 });

describe('Amounts in reais', () => {
	test.each([
		['1.15', 115],
		['R$ 1.234,56', 123456],
		['1.234.567', 123456700],
		[1.15, 115],
		[7, 700],
		[0, 0],
		[0.1 + 0.2, 30],
		[100_000.1 * 3, 30000030],
		[999_999_999.99, 99_999_999_999],
	])('%p is %i cents', (input, expected) => {
		expect(parseCents(input)).toEqual({ value: expected });
	});

	// Texts are compared with an oracle below.
	test.each([1.005, 1e-5, 100_000_000.005])(
		'%p is refused, because it has a fraction of a cent',
		(input) => {
			expect(parseCents(input)).toHaveProperty('problem');
		},
	);

	test('every number of cents is exact, even if its reais are a rounded number', () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 999_999_999 }), (amount) => {
				expect(parseCents(amount / 100)).toEqual({ value: amount });
			}),
		);
	});
});

describe('An amount is refused with a reason:', () => {
	const LARGEST = 'is too large; the largest amount is R$ 999.999.999,99';
	const NO_REAIS = 'must be an amount such as 19,90 or 1.234,56;';

	test.each<[unknown, string]>([
		[{}, `${NO_REAIS} "" is not one`],
		[NaN, `${NO_REAIS} "NaN" is not one`],
		[-0.01, `${NO_REAIS} "-0.01" is not one`],
		['1000000000', LARGEST],
		[Infinity, LARGEST],
		[1.005, 'must have at most two decimals; 1.005 has more. Round it first'],
		['1.990', 'is ambiguous: write 1990,00 or 1,99, not "1.990"'],
		['R$ 19.500', 'is ambiguous: write 19500,00 or 19,50, not "R$ 19.500"'],
		['1.999', 'is ambiguous: write 1999,00 or 1,99, not "1.999"'],
		['19 90', `${NO_REAIS} "19 90" is not one`],
		['0.500', `${NO_REAIS} "0.500" is not one`],
		['1.'.repeat(100_000), `${NO_REAIS} "${'1.'.repeat(30)}..." is not one`],
	])('%j: %s', (input, problem) => {
		expect(parseCents(input)).toEqual({ problem });
	});
});

describe('Reading an amount:', () => {
	const read = (text: string): number | undefined => {
		const result = parseCents(text);
		return 'value' in result ? result.value : undefined;
	};

	test('a clear amount is read exactly', () => {
		fc.assert(
			fc.property(
				clearReais,
				({ text, cents: expected }) => read(text) === expected && meaningOf(text) === expected,
			),
			{ numRuns: sequences(1_000, 3_000) },
		);
	});

	test('anything else is refused', () => {
		fc.assert(
			fc.property(anyAmountText, (text) => Object.is(read(text), meaningOf(text))),
			{ numRuns: sequences(2_000, 20_000) },
		);
	});
});

describe('Amounts as a Brazilian reads them', () => {
	test.each([
		[0, 'R$ 0,00'],
		[5, 'R$ 0,05'],
		[123456, 'R$ 1.234,56'],
		[-1990, '-R$ 19,90'],
		[99_999_999_999, 'R$ 999.999.999,99'],
	])('%d cents are %s', (amount, text) => {
		expect(formatReais(amount)).toBe(text);
	});
});

test('reading an amount never throws, and returns a safe integer', () => {
	fc.assert(
		fc.property(fc.anything(), (input) => {
			const result: { value?: number; problem?: string } = parseCents(input);
			const { value: amount = 0, problem = 'none' } = result;
			expect(Object.keys(result)).toHaveLength(1);
			expect(Number.isSafeInteger(amount) && amount >= 0 && problem !== '').toBe(true);
		}),
	);
});

test('an amount that an error says to enter is read as that amount', () => {
	fc.assert(
		fc.property(cents, (amount) => {
			expect(parseCents(typedAmount(amount))).toEqual({ value: amount });
		}),
	);
});

test.each([
	[1990, 199_000, true],
	[199_000, 1990, true],
	[1990, 1990, false],
	[199_001, 1990, false],
	[0, 0, false],
	[0, 100, false],
])('%i and %i differ by exactly the factor 100: %p', (one, other, expected) => {
	expect(isHundredfold(one, other)).toBe(expected);
});
