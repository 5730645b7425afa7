import * as fc from 'fast-check';
import { formatReais, parseCents } from '../../../nodes/DigitalSales/domain/money';

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
		['R$\u00a019,90', 1990],
	])('%p is %i cents', (input, expected) => {
		expect(parseCents(input, 'reais')).toEqual({ cents: expected });
	});

	test.each([
		'1.234',
		'1,234',
		'19,9,0',
		'abc',
		'1e3',
		'',
		'19,999',
		'12,34.5',
		'1.23.456',
		'1234.567,89',
		'1234,567.89',
		'1234.567.890',
		'1234,567,890',
		'1.234.567.89',
		'1,234,567,89',
		'1.234,56x',
		'19R$,90',
		19.999,
		-19.9,
	])('%p is refused, since it can be read in two ways or in none', (input) => {
		expect(parseCents(input, 'reais')).toHaveProperty('problem');
	});

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
					expect(parseCents(writing, 'reais')).toEqual({ cents: amount });
				}
			}),
		);
	});

	test('every number of cents is exact, though reais are not', () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 999_999_999 }), (amount) => {
				expect(parseCents(amount / 100, 'reais')).toEqual({ cents: amount });
			}),
		);
	});

	test('a number with more than two decimals is refused, float noise apart', () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 0, max: 9_999_999 }),
				fc.integer({ min: 1, max: 9 }),
				(whole, digit) => {
					expect(parseCents(Number(`${whole}.12${digit}`), 'reais')).toHaveProperty('problem');
				},
			),
		);
	});
});

describe('What is wrong with an amount', () => {
	test.each([
		[{}, 'cents', 'is not an amount'],
		['-1', 'reais', 'must not be negative'],
		['99999999999999999', 'cents', 'is too large an amount'],
		['19,90', 'cents', 'must be a whole number, for example 1990 for R$ 19,90; "19,90" is not one'],
		[
			'1.234',
			'reais',
			'must be an amount such as 19,90 or 1.234,56; "1.234" cannot be read for certain',
		],
	] as const)('%p in %s: %s', (input, unit, problem) => {
		expect(parseCents(input, unit)).toEqual({ problem });
	});
});

describe('Amounts as a Brazilian reads them', () => {
	test.each([
		[0, 'R$ 0,00'],
		[5, 'R$ 0,05'],
		[123456, 'R$ 1.234,56'],
		[-1990, '-R$ 19,90'],
	])('%i cents are %s', (amount, text) => {
		expect(formatReais(amount)).toBe(text);
	});
});

describe('Amounts in cents', () => {
	test('whole numbers pass unchanged', () => {
		fc.assert(
			fc.property(cents, (amount) => {
				expect(parseCents(amount, 'cents')).toEqual({ cents: amount });
				expect(parseCents(String(amount), 'cents')).toEqual({ cents: amount });
			}),
		);
	});

	test.each([
		'19,90',
		'19.90',
		'x1',
		'1x',
		19.9,
		-1,
		'-1',
		'R$',
		{},
		null,
		true,
		NaN,
		Infinity,
		1e21,
	])('%p is refused', (input) => {
		expect(parseCents(input, 'cents')).toHaveProperty('problem');
	});

	test('nothing makes it throw, and what it gives is a safe whole number', () => {
		fc.assert(
			fc.property(
				fc.anything(),
				fc.constantFrom('cents' as const, 'reais' as const),
				(input, unit) => {
					const result: { cents?: number; problem?: string } = parseCents(input, unit);
					const { cents: amount = 0, problem = 'none' } = result;
					expect(Object.keys(result)).toHaveLength(1);
					expect(Number.isSafeInteger(amount) && amount >= 0 && problem !== '').toBe(true);
				},
			),
		);
	});
});
