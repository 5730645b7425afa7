import fc from 'fast-check';
import { pixCodeProblem, readPixCode } from '../../../../nodes/DigitalSales/domain/pixCode';
import { brCode } from '../../../sandbox/pix/brCode';
import { crc16 } from '../../../sandbox/pix/crc16';

/** The example of the central bank's manual of the BR Code. */
const PUBLISHED =
	'00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D';

const codes = fc.record({
	amount: fc.integer({ min: 1, max: 999_999_999 }),
	location: fc.webPath().map((path) => `pix.example.com${path}`),
	merchantName: fc.string({ minLength: 1, maxLength: 25, unit: fc.constantFrom(...'abcAB 12.') }),
	merchantCity: fc.constantFrom('SAO PAULO', 'BRASILIA'),
});

describe('the PIX code', () => {
	test('of the published example is read', () => {
		expect(readPixCode(PUBLISHED)).toEqual({ checksumHolds: true, cents: undefined });
		expect(pixCodeProblem(PUBLISHED, 1990)).toBeUndefined();
	});

	test('holds its amount and its checksum', () => {
		fc.assert(
			fc.property(codes, (input) => {
				const code = brCode(input);
				expect(readPixCode(code)).toEqual({ checksumHolds: true, cents: input.amount });
				expect(pixCodeProblem(` ${code}\n`, input.amount)).toBeUndefined();
			}),
		);
	});

	test('says when it asks for another amount', () => {
		fc.assert(
			fc.property(codes, fc.integer({ min: 1, max: 1_000 }), (input, more) => {
				expect(pixCodeProblem(brCode(input), input.amount + more)).toMatch(
					/^is for R\$ .+, but the transaction is for R\$ /,
				);
			}),
		);
	});

	test('that was changed in any one place is found out', () => {
		fc.assert(
			fc.property(codes, fc.nat(), fc.constantFrom(...'0123456789aZ*'), (input, at, character) => {
				const code = brCode(input);
				const place = at % code.length;
				fc.pre(code[place]?.toUpperCase() !== character.toUpperCase());
				const changed = code.slice(0, place) + character + code.slice(place + 1);
				expect(pixCodeProblem(changed, input.amount)).toBeDefined();
			}),
		);
	});

	test.each(['characters', 'bytes'])('may count accents as %s', (unit) => {
		const name = 'José';
		const length = unit === 'bytes' ? Buffer.byteLength(name) : name.length;
		const body = `00020153039865404${'1.50'}5802BR590${length}${name}6304`;

		expect(readPixCode(body + crc16(body))).toEqual({ checksumHolds: true, cents: 150 });
	});

	test.each<[string, number | undefined]>([
		['00.0', undefined],
		['19.9', 1990],
		['1.990', 199],
		['50.', 5000],
		['007', 700],
		['1.999', undefined],
		['19,90', undefined],
		['1.234,56', undefined],
		['1 990', undefined],
		['R$ 5', undefined],
		['1e3', undefined],
		['99999999999999.99', undefined],
	])('with the amount "%s" asks for %p cents', (amount, cents) => {
		const body = `00020154${String(amount.length).padStart(2, '0')}${amount}6304`;
		expect(readPixCode(body + crc16(body))).toEqual({ checksumHolds: true, cents });
	});

	test.each([
		['', 'an empty text'],
		['0002016304', 'a checksum that is cut off'],
		['00020154041.50', 'no checksum at the end'],
		['0102016304ABCD', 'another field at its beginning'],
		['0a02016304ABCD', 'no identifier'],
		['000x016304ABCD', 'no length'],
		['x00020163041D3D', 'something before it'],
	])('is not "%s": %s', (text) => {
		expect(readPixCode(text)).toBeUndefined();
		expect(pixCodeProblem(text)).toBe('is not a valid PIX code');
	});

	test('whose checksum is too short is damaged', () => {
		expect(pixCodeProblem('0002016303ABC')).toBe('is damaged: its checksum is wrong');
	});

	test('says nothing of the amount where none is known', () => {
		const body = '00020154041.50' + '6304';
		expect(pixCodeProblem(body + crc16(body))).toBeUndefined();
	});

	test('is nothing else', () => {
		fc.assert(fc.property(fc.string(), (text) => readPixCode(text) === undefined));
	});
});
