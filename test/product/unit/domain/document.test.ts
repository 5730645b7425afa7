import * as fc from 'fast-check';
import { parseDocument } from '../../../../nodes/DigitalSales/domain/customer';

/** Check digits by the rule as the tax office publishes it: weights from the right, modulo 11. */
function checkDigits(base: string, weights: number[][]): string {
	let text = base;
	for (const row of weights) {
		const sum = [...text].reduce((total, character, index) => {
			return total + (character.charCodeAt(0) - 48) * (row[index] ?? 0);
		}, 0);
		const rest = sum % 11;
		text += rest < 2 ? '0' : String(11 - rest);
	}
	return text;
}

const CPF_WEIGHTS = [
	[10, 9, 8, 7, 6, 5, 4, 3, 2],
	[11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
];
const CNPJ_WEIGHTS = [
	[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
	[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
];

const text = (characters: string, length: number): fc.Arbitrary<string> =>
	fc
		.array(fc.constantFrom(...characters), { minLength: length, maxLength: length })
		.map((list) => list.join(''));
const varied = (value: string): boolean => new Set(value).size > 1;

const cpf = text('0123456789', 9)
	.filter(varied)
	.map((base) => checkDigits(base, CPF_WEIGHTS));
const numericCnpj = text('0123456789', 12)
	.filter(varied)
	.map((base) => checkDigits(base, CNPJ_WEIGHTS));
const cnpj = text('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', 12)
	.filter(varied)
	.map((base) => checkDigits(base, CNPJ_WEIGHTS));

const UNCLEAR =
	'is a number that is not clearly one CPF or CNPJ. Leading zeros may be missing: format the column as text';

describe('CPF and CNPJ', () => {
	test.each([
		['529.982.247-25', '52998224725'],
		// Test accounts of payment services use it, and its check digits are right.
		['123.456.789-09', '12345678909'],
		['11.222.333/0001-81', '11222333000181'],
		['12.ABC.345/01DE-35', '12ABC34501DE35'],
		['12.abc.345/01de-35', '12ABC34501DE35'],
	])('%s is read as %s', (input, document) => {
		expect(parseDocument(input)).toEqual({ value: document });
	});

	test.each([
		[null, 'is not a CPF or CNPJ'],
		['111.111.111-11', 'is not a valid CPF: check its digits'],
		['00000000000000', 'is not a valid CNPJ: check its characters'],
		['12.ABC.345/01DE-36', 'is not a valid CNPJ: check its characters'],
		['', 'must be a CPF (11 digits) or a CNPJ (14 characters); this one has 0'],
		[1.5, UNCLEAR],
		[-52998224725, UNCLEAR],
		['52998224726', 'is not a valid CPF: check its digits'],
		[
			'12ABC34501DEX5',
			'has a letter in a place for a digit: a CPF is all digits, and a CNPJ ends in two',
		],
		[
			'529.982.247-2S',
			'has a letter in a place for a digit: a CPF is all digits, and a CNPJ ends in two',
		],
		['529982247250', 'must be a CPF (11 digits) or a CNPJ (14 characters); this one has 12'],
		['112223330001811', 'must be a CPF (11 digits) or a CNPJ (14 characters); this one has 15'],
		// Right as a CPF and as a CNPJ.
		[191, UNCLEAR],
		[0, UNCLEAR],
	])('%p: %s', (input, problem) => {
		expect(parseDocument(input)).toEqual({ problem });
	});

	test('every document with right check digits is taken, with or without punctuation', () => {
		fc.assert(
			fc.property(fc.oneof(cpf, cnpj), (document) => {
				expect(parseDocument(document)).toEqual({ value: document });
				expect(parseDocument(` ${document.replace(/(.{3})/g, '$1.')}`)).toEqual({
					value: document,
				});
			}),
		);
	});

	test('a wrong check digit is noticed', () => {
		fc.assert(
			fc.property(fc.oneof(cpf, cnpj), fc.integer({ min: 1, max: 9 }), (document, step) => {
				const last = (Number(document.at(-1)) + step) % 10;
				expect(parseDocument(document.slice(0, -1) + String(last))).toHaveProperty('problem');
			}),
		);
	});

	describe('that came as a number', () => {
		const isCpf = (digits: string): boolean =>
			varied(digits) && checkDigits(digits.slice(0, 9), CPF_WEIGHTS) === digits;
		const isCnpj = (digits: string): boolean =>
			varied(digits) && checkDigits(digits.slice(0, 12), CNPJ_WEIGHTS) === digits;
		/** The rule, by check digits calculated independently. */
		const expected = (number: number): unknown => {
			const [asCpf, asCnpj] = [11, 14].map((length) => String(number).padStart(length, '0'));
			const readings = [
				...(asCpf?.length === 11 && isCpf(asCpf) ? [asCpf] : []),
				...(asCnpj && isCnpj(asCnpj) ? [asCnpj] : []),
			];
			const [one = '', other] = readings;
			const isMistyped = String(number).length === 11 && one.length === 14;
			return other === undefined && one !== '' && !isMistyped
				? { value: one }
				: { problem: UNCLEAR };
		};
		const withZeros = fc
			.integer({ min: 1, max: 8 })
			.chain((zeros) => text('0123456789', 9 - zeros).map((base) => '0'.repeat(zeros) + base))
			.filter(varied)
			.map((base) => checkDigits(base, CPF_WEIGHTS));

		test('are neither where they could be a CPF and a CNPJ, unless their zeros are written', () => {
			const outcomes = new Set<string>();
			fc.assert(
				fc.property(fc.oneof(cpf, withZeros), (digits) => {
					const result = parseDocument(Number(digits));
					expect(result).toEqual(expected(Number(digits)));
					expect(parseDocument(digits)).toEqual({ value: digits });
					outcomes.add(Object.keys(result).join());
				}),
				{ numRuns: 500 },
			);
			expect(outcomes).toEqual(new Set(['value', 'problem']));
		});

		test('follow their check digits, whatever the number and its length', () => {
			const longer = fc.integer({ min: 100_000_000_000, max: 999_999_999_999_999 });
			fc.assert(
				fc.property(fc.oneof(fc.nat({ max: 99_999_999_999 }), longer), (number) => {
					expect(parseDocument(number)).toEqual(expected(number));
				}),
				{ numRuns: 3_000 },
			);
		});
	});

	test('a number of eleven digits that is no CPF does not become a CNPJ', () => {
		expect(parseDocument(52_998_224_793)).toEqual({
			problem: UNCLEAR,
		});
	});

	test('a CNPJ that came as a number gets its leading zeros back', () => {
		fc.assert(
			fc.property(
				numericCnpj.filter((document) => Number(document) > 99_999_999_999),
				(document) => {
					expect(parseDocument(Number(document))).toEqual({ value: document });
				},
			),
		);
	});

	test('nothing makes it throw', () => {
		fc.assert(
			fc.property(fc.anything(), (input) => {
				expect(Object.keys(parseDocument(input))).toHaveLength(1);
			}),
		);
	});
});
