import fc from 'fast-check';

/** Shares no code with the package: it writes out all clear spellings of an amount, and compares. */

/** Blanks that look the same. */
const BLANKS = [' ', '\u00a0', '\u202f', '\u2007', '\u2009'];
const INVISIBLE = ['\u200b', '\u200e'];
const SIGNS = ['r$', 'brl'];

/** In cents; undefined if the text is not clear. */
export function meaningOf(text: string): number | undefined {
	const trimmed = [...text.trim()]
		.filter((one) => !INVISIBLE.includes(one))
		.join('')
		.trim();
	const amount = withoutSign(trimmed);
	const digits = [...amount].filter((character) => '0123456789'.includes(character)).join('');
	if (digits === '') return undefined;
	for (const places of [0, 1, 2]) {
		if (places >= digits.length) continue;
		const reais = digits.slice(0, digits.length - places);
		const decimals = digits.slice(digits.length - places);
		if (spellings(reais, decimals).includes(amount)) {
			return safe(reais + decimals + '0'.repeat(2 - places));
		}
	}
	return undefined;
}

function safe(digits: string): number | undefined {
	return Number(digits) < 100_000_000_000 ? Number(digits) : undefined;
}

function withoutSign(text: string): string {
	const lower = text.toLowerCase();
	const sign = SIGNS.find((one) => lower.startsWith(one));
	return sign ? text.slice(sign.length).trimStart() : text;
}

/** Every clear way to write reais and up to two decimals. */
function spellings(reais: string, decimals: string): string[] {
	const ends = decimals === '' ? [''] : [`,${decimals}`, `.${decimals}`];
	const plain = ends.map((end) => reais + end);
	if (reais.length < 4 || reais.startsWith('0')) return plain;
	// A single group might be decimals. Only decimals or a second group make it clear.
	const isClear = decimals !== '' || reais.length > 6;
	const byPoint = grouped(reais, '.') + (decimals === '' ? '' : `,${decimals}`);
	const byComma = grouped(reais, ',') + (decimals === '' ? '' : `.${decimals}`);
	return [...plain, ...(isClear ? [byPoint, byComma] : [])];
}

function grouped(digits: string, mark: string): string {
	let text = '';
	for (let at = 0; at < digits.length; at++) {
		if (at > 0 && (digits.length - at) % 3 === 0) text += mark;
		text += digits[at];
	}
	return text;
}

interface Spelled {
	text: string;
	cents: number;
}

const blank = fc.constantFrom(...BLANKS);
const margin = fc.constantFrom('', ' ', '\t', '\n', '\u00a0', ' \r\n');
/** Amounts in reais, each in some clear spelling. */
export const clearReais: fc.Arbitrary<Spelled> = fc
	.record({
		reais: fc.oneof(fc.nat(9_999), fc.nat(999_999_999)),
		decimals: fc.oneof(
			fc.constant(''),
			fc.nat(99).map((cents) => String(cents).padStart(2, '0')),
		),
		spelling: fc.nat(),
		sign: fc.constantFrom('', ...['R$', 'r$', 'BRL']),
		hidden: fc.constantFrom('', '', ...INVISIBLE),
		between: fc.array(blank, { maxLength: 2 }).map((list) => list.join('')),
		margins: fc.tuple(margin, margin),
	})
	.map(({ reais, decimals, spelling, sign, hidden, between, margins }) => {
		const clear = spellings(String(reais), decimals);
		const number = clear[spelling % clear.length] ?? '';
		return {
			text: margins.join(hidden + (sign === '' ? number : sign + between + number)),
			cents: reais * 100 + Number(decimals),
		};
	});

const DIGITS = [...'0123456789'];
const ODD = [...BLANKS, '\t', '\n', ...'.,-\u2212+１９０．', 'R$', 'r$'];
const piece = fc.oneof(
	{ weight: 3, arbitrary: fc.constantFrom(...DIGITS, '000', '199', '90') },
	{ weight: 2, arbitrary: fc.constantFrom(...ODD) },
);

/** Texts of digits, blanks, signs and marks, most of which are not clear amounts. */
export const anyAmountText: fc.Arbitrary<string> = fc.oneof(
	fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join('')),
	// A clear amount with one piece added, or with one character replaced or removed.
	fc
		.record({
			text: clearReais.map(({ text }) => text),
			at: fc.nat(),
			piece: fc.oneof(piece, fc.constant('')),
			removed: fc.nat({ max: 1 }),
		})
		.map(({ text, at, piece: put, removed }) => {
			const place = at % (text.length + 1);
			return text.slice(0, place) + put + text.slice(place + removed);
		}),
);
