import * as fc from 'fast-check';
import { wholeNumberField } from '../../../../nodes/DigitalSales/form/fields';
import {
	formatReais,
	isHundredfold,
	parseCents,
	typedAmount,
} from '../../../../nodes/DigitalSales/domain/money';
import {
	anyAmountText,
	clearCents,
	clearReais,
	meaningOf,
	SECOND_READERS,
	type Unit,
} from './amountOracle';

/** Amounts in Custom Fields are in cents. */
function parse(input: unknown, unit: Unit): ReturnType<typeof parseCents> {
	if (unit === 'reais') return parseCents(input);
	const { data, error } = wholeNumberField(0).safeParse(input);
	return data === undefined ? { problem: String(error?.issues[0]?.message) } : { value: data };
}

const cents = fc.integer({ min: 0, max: 99_999_999_999 });

/** The reais of an amount, written out digit by digit. */
function written(amount: number, decimal: string, group: string): string {
	const digits = String(amount).padStart(3, '0');
	const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, group);
	return `${whole}${decimal}${digits.slice(-2)}`;
}

describe('Amounts in reais', () => {
	test.each([
		['1.15', 115],
		['19,90', 1990],
		['19.9', 1990],
		['R$ 19.90', 1990],
		['R$ 1.234,56', 123456],
		['1.234,56', 123456],
		['1,234.56', 123456],
		['1.234.567', 123456700],
		['12.345.678', 1234567800],
		['12,345,678', 1234567800],
		['0,01', 1],
		['7', 700],
		[1.15, 115],
		[19.9, 1990],
		[0.1 + 0.2, 30],
		[7, 700],
		[1_000_000.1 * 3, 300000030],
		[100_000.1 * 3, 30000030],
		['R$\u00a019,90', 1990],
		['r$19,9', 1990],
		['19,90 R$', 1990],
		[' 19,90\n', 1990],
		['1 990', 199000],
		['1 990,00', 199000],
		['R$ 1\u00a0234\u202f567.8', 123456780],
		['00019,90', 1990],
		[90_071_992_547_409.9, 9007199254740990],
		[70_000_000_000_000.01, 7000000000000001],
	])('%p is %i cents', (input, expected) => {
		expect(parse(input, 'reais')).toEqual({ value: expected });
	});

	// Texts are compared with an oracle below.
	test.each([19.999, 1.005, 1e-7, 0.3 + 2 ** -49, 5_000_000_000_000.005, -19.9])(
		'%p is refused, since it is no amount in cents',
		(input) => {
			expect(parse(input, 'reais')).toHaveProperty('problem');
		},
	);

	test('every amount is read back, whatever way it is written', () => {
		fc.assert(
			fc.property(cents, (amount) => {
				const writings = [
					written(amount, ',', '.'),
					written(amount, '.', ','),
					written(amount, ',', ''),
					written(amount, '.', ''),
					`R$ ${written(amount, ',', '.')}`,
					formatReais(amount),
				];
				for (const writing of writings) {
					expect(parse(writing, 'reais')).toEqual({ value: amount });
				}
			}),
		);
	});

	test('every number of cents is exact, though reais are not', () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 999_999_999 }), (amount) => {
				expect(parse(amount / 100, 'reais')).toEqual({ value: amount });
			}),
		);
	});

	test('a number with more than two decimals is refused, float noise apart', () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 0, max: 9_999_999 }),
				fc.integer({ min: 1, max: 9 }),
				(whole, digit) => {
					expect(parse(Number(`${whole}.12${digit}`), 'reais')).toHaveProperty('problem');
				},
			),
		);
	});
});

describe('What is wrong with an amount', () => {
	const LARGEST = 'is too large; the largest amount is R$ 90.071.992.547.409,91';
	const NO_CENTS = 'must be a whole number of at least 0';
	const NO_REAIS = 'must be an amount such as 19,90 or 1.234,56;';

	test.each<[unknown, Unit, string]>([
		[{}, 'cents', NO_CENTS],
		[NaN, 'cents', NO_CENTS],
		[{}, 'reais', 'is not an amount'],
		[NaN, 'reais', 'is not an amount'],
		[-0.01, 'reais', 'must not be negative'],
		[-1, 'cents', NO_CENTS],
		['9007199254740992', 'cents', NO_CENTS],
		['90071992547409,92', 'reais', LARGEST],
		[2 ** 53, 'cents', NO_CENTS],
		[1e21, 'cents', NO_CENTS],
		[1e21, 'reais', LARGEST],
		[Number.MAX_SAFE_INTEGER, 'reais', LARGEST],
		[Infinity, 'reais', LARGEST],
		[19.9, 'cents', NO_CENTS],
		[1.005, 'reais', 'must have at most two decimals; 1.005 has more. Round it first'],
		['R$ 10', 'cents', NO_CENTS],
		['19,90', 'cents', NO_CENTS],
		['1.990', 'cents', NO_CENTS],
		['-1', 'cents', NO_CENTS],
		['', 'cents', NO_CENTS],
		['1.990', 'reais', 'is ambiguous: write 1990,00 or 1,99, not "1.990"'],
		['1,990', 'reais', 'is ambiguous: write 1990,00 or 1,99, not "1,990"'],
		['R$ 19.500', 'reais', 'is ambiguous: write 19500,00 or 19,50, not "R$ 19.500"'],
		['1.999', 'reais', 'is ambiguous: write 1999,00, not "1.999"'],
		['-1', 'reais', `${NO_REAIS} "-1" is not one`],
		['19 90', 'reais', `${NO_REAIS} "19 90" is not one`],
		['0.500', 'reais', `${NO_REAIS} "0.500" is not one`],
		['1.234.56', 'reais', `${NO_REAIS} "1.234.56" is not one`],
		['1.23,456', 'reais', `${NO_REAIS} "1.23,456" is not one`],
		['0,005', 'reais', `${NO_REAIS} "0,005" is not one`],
		['19,90 BRL', 'reais', `${NO_REAIS} "19,90 BRL" is not one`],
		['x'.repeat(40), 'reais', `${NO_REAIS} "${'x'.repeat(40)}" is not one`],
		[`1${' '.repeat(50)}0`, 'reais', `${NO_REAIS} "1${' '.repeat(39)}..." is not one`],
	])('%j in %s: %s', (input, unit, problem) => {
		expect(parse(input, unit)).toEqual({ problem });
	});

	test('a text of any length is refused at once', () => {
		for (const text of [`5${' '.repeat(200_000)}x`, '1.'.repeat(100_000), '1 '.repeat(100_000)]) {
			const start = performance.now();
			expect(parse(text, 'reais')).toHaveProperty('problem');
			expect(parse(text, 'cents')).toHaveProperty('problem');
			expect(performance.now() - start).toBeLessThan(1_000);
		}
	});
});

describe('An amount is read as everybody reads it, or not at all', () => {
	const read = (text: string, unit: Unit): number | undefined => {
		const result = parse(text, unit);
		return 'value' in result ? result.value : undefined;
	};
	const RUNS = { numRuns: 3_000 };

	test('what is clear is read exactly', () => {
		fc.assert(
			fc.property(
				clearReais,
				({ text, cents: expected }) =>
					read(text, 'reais') === expected && meaningOf(text, 'reais') === expected,
			),
			RUNS,
		);
		fc.assert(
			fc.property(clearCents, ({ text, cents: expected }) => {
				expect(read(text, 'cents')).toBe(expected);
				expect(meaningOf(text, 'cents')).toBe(expected);
			}),
		);
	});

	test.each<Unit>(['cents', 'reais'])('anything else is refused in %s', (unit) => {
		fc.assert(
			fc.property(anyAmountText, (text) => Object.is(read(text, unit), meaningOf(text, unit))),
			{ numRuns: 20_000 },
		);
	});

	test('no second reader takes it for another amount', () => {
		fc.assert(
			fc.property(
				fc.oneof(
					anyAmountText,
					clearReais.map(({ text }) => text),
				),
				(text) => {
					const amount = read(text, 'reais');
					if (amount === undefined) return true;
					const others = Object.values(SECOND_READERS).map((reader) => reader(text));
					return others.every((other) => other === undefined || other === BigInt(amount));
				},
			),
			{ numRuns: 20_000 },
		);
	});
});

describe('Amounts as a Brazilian reads them', () => {
	test.each([
		[0, 'R$ 0,00'],
		[5, 'R$ 0,05'],
		[123456, 'R$ 1.234,56'],
		[-1990, '-R$ 19,90'],
		[Number.MAX_SAFE_INTEGER, 'R$ 90.071.992.547.409,91'],
		[1e21, 'R$ 10.000.000.000.000.000.000,00'],
		[19.5, '19.5 cents'],
		[Infinity, 'Infinity cents'],
	])('%d cents are %s', (amount, text) => {
		expect(formatReais(amount)).toBe(text);
	});
});

describe('Amounts in cents', () => {
	test('whole numbers pass unchanged', () => {
		fc.assert(
			fc.property(cents, (amount) => {
				expect(parse(amount, 'cents')).toEqual({ value: amount });
				expect(parse(String(amount), 'cents')).toEqual({ value: amount });
			}),
		);
	});

	test.each([19.9, -1, 'x1', '1x', 'R$', {}, null, true, NaN, Infinity, 1e21])(
		'%p is refused',
		(input) => {
			expect(parse(input, 'cents')).toHaveProperty('problem');
		},
	);

	test('nothing makes it throw, and what it gives is a safe whole number', () => {
		fc.assert(
			fc.property(
				fc.anything(),
				fc.constantFrom('cents' as const, 'reais' as const),
				(input, unit) => {
					const result: { value?: number; problem?: string } = parse(input, unit);
					const { value: amount = 0, problem = 'none' } = result;
					expect(Object.keys(result)).toHaveLength(1);
					expect(Number.isSafeInteger(amount) && amount >= 0 && problem !== '').toBe(true);
				},
			),
		);
	});
});

test('an amount that an error says to enter is read as that amount', () => {
	fc.assert(
		fc.property(cents, fc.constantFrom('cents' as const, 'reais' as const), (amount, unit) => {
			expect(parse(unit === 'cents' ? String(amount) : typedAmount(amount), unit)).toEqual({
				value: amount,
			});
		}),
	);
});

test.each([
	[1990, 199_000, true],
	[199_000, 1990, true],
	[90_071_992_547_409, 9_007_199_254_740_900, true],
	[90_071_992_547_410, 9_007_199_254_740_991, false],
	[9_007_199_254_740_991, 9_007_199_254_740_991, false],
	[1990, 1990, false],
	[1990, 19_900, false],
	[199_001, 1990, false],
	[0, 0, false],
	[0, 100, false],
	[100, 0, false],
])('%i and %i differ by exactly a hundred: %p', (one, other, expected) => {
	expect(isHundredfold(one, other)).toBe(expected);
});
