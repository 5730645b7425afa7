import * as fc from 'fast-check';
import { parseDocument } from '../../../nodes/DigitalSales/domain/customer';
import { sequences } from '../../helpers/extent';

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

const withCheckDigits = {
	cpf: (base: string) =>
		checkDigits(base, [
			[10, 9, 8, 7, 6, 5, 4, 3, 2],
			[11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
		]),
	cnpj: (base: string) =>
		checkDigits(base, [
			[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
			[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
		]),
};
const LENGTH = { cpf: 11, cnpj: 14 };
const isVaried = (value: string): boolean => new Set(value).size > 1;

const DIGITS = '0123456789';
const made = (kind: 'cpf' | 'cnpj', zeros: number, characters = DIGITS): fc.Arbitrary<string> => {
	const length = LENGTH[kind] - 2 - zeros;
	return fc
		.string({ unit: fc.constantFrom(...characters), minLength: length, maxLength: length })
		.map((rest) => '0'.repeat(zeros) + rest)
		.filter(isVaried)
		.map(withCheckDigits[kind]);
};
const cpf = fc.oneof(
	made('cpf', 0),
	fc.integer({ min: 1, max: 8 }).chain((zeros) => made('cpf', zeros)),
);
/** One that begins with CPF looks like a label and a CPF. */
const cnpj = made('cnpj', 0, `${DIGITS}ABCDEFGHIJKLMNOPQRSTUVWXYZ`).filter(
	(document) => !document.startsWith('CPF'),
);

describe('CPF and CNPJ', () => {
	test('accepts every document with correct check digits, with or without punctuation', () => {
		fc.assert(
			fc.property(fc.oneof(cpf, cnpj), (document) => {
				expect(parseDocument(document)).toEqual({ value: document });
				const [, ...groups] = /^(..?.?)(...)(...)(....)?(..)$/.exec(document) ?? [];
				const punctuated = groups.filter((group) => group !== undefined).join(' - ');
				expect(parseDocument(` ${punctuated}.`)).toEqual({ value: document });
			}),
		);
	});

	test('refuses a wrong check digit', () => {
		fc.assert(
			fc.property(fc.oneof(cpf, cnpj), fc.integer({ min: 1, max: 9 }), (document, step) => {
				const last = (Number(document.at(-1)) + step) % 10;
				expect(parseDocument(document.slice(0, -1) + String(last))).toHaveProperty('problem');
			}),
		);
	});

	test('restores the leading zeros of a number if its check digits make it clear', () => {
		/** The rule, by check digits calculated independently. */
		const expected = (number: number): string | undefined => {
			const readings = (['cpf', 'cnpj'] as const).flatMap((kind) => {
				const digits = String(number).padStart(LENGTH[kind], '0');
				const isRight = isVaried(digits) && withCheckDigits[kind](digits.slice(0, -2)) === digits;
				return isRight && digits.length === LENGTH[kind] ? [digits] : [];
			});
			// Eleven digits have lost no zero of a CPF.
			if (String(number).length === 11) return readings.find((one) => one.length === 11);
			return readings.length === 1 ? readings[0] : undefined;
		};
		const numbers = fc.oneof(
			fc.oneof(cpf, made('cnpj', 0), made('cnpj', 1)).map(Number),
			fc.nat(99_999_999_999),
			fc.integer({ min: 100_000_000_000, max: 999_999_999_999_999 }),
		);
		const outcomes = new Set<string>();
		fc.assert(
			fc.property(numbers, (number) => {
				const result = parseDocument(number);
				expect('value' in result ? result.value : undefined).toBe(expected(number));
				outcomes.add(Object.keys(result).join());
			}),
			{ numRuns: sequences(500, 1_000) },
		);
		expect(outcomes).toEqual(new Set(['value', 'problem']));
	});

	test('never reads a CPF as a CNPJ, whatever word stands before it', () => {
		const word = fc.string({ unit: fc.constantFrom(...'ABCDEFGHIJ .:-/'), maxLength: 6 });
		fc.assert(
			fc.property(word, cpf, fc.constantFrom('$1$2$3$4', '$1.$2.$3-$4'), (before, digits, way) => {
				const typed = before + digits.replace(/(...)(...)(...)(..)/, way);
				const read = parseDocument(typed);
				expect('value' in read ? read.value : digits).toBe(digits);
			}),
			{ numRuns: sequences(500, 1_000) },
		);
	});

	test('never throws', () => {
		fc.assert(
			fc.property(fc.anything(), (input) => {
				expect(Object.keys(parseDocument(input))).toHaveLength(1);
			}),
		);
	});
});
