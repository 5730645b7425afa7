import fc from 'fast-check';

/** Shares no code with the package: it writes out all clear spellings of an amount, and compares. */

/** Blanks that look the same and group digits. */
const BLANKS = [' ', '\u00a0', '\u202f', '\u2007', '\u2009'];
const INVISIBLE = ['\u200b', '\u200e'];
const SIGNS_BEFORE = ['r$', 'brl'];
const SIGNS_AFTER = [...SIGNS_BEFORE, 'reais', 'real'];

/** In cents; undefined if the text is not clear. */
export function meaningOf(text: string): number | undefined {
	const trimmed = [...text.trim()]
		.filter((one) => !INVISIBLE.includes(one))
		.join('')
		.trim();
	const amount = withoutZeros(
		withoutSign([...trimmed].map((one) => (BLANKS.includes(one) ? ' ' : one)).join('')),
	);
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
	const cents = BigInt(digits);
	return cents < 2n ** 53n ? Number(cents) : undefined;
}

function withoutSign(text: string): string {
	const lower = text.toLowerCase();
	const before = SIGNS_BEFORE.find((sign) => lower.startsWith(sign));
	if (before) return dropped(text.slice(before.length), (rest) => rest.slice(1), 0);
	const after = SIGNS_AFTER.find((sign) => lower.endsWith(sign));
	if (!after) return text;
	const rest = dropped(text.slice(0, -after.length), (left) => left.slice(0, -1), -1);
	return '0123456789'.includes(rest.at(-1) ?? 'x') ? rest : text;
}

/** A database may write four decimals or more, which are zeros after the second. */
function withoutZeros(text: string): string {
	const mark = Math.max(text.lastIndexOf(','), text.lastIndexOf('.'));
	const decimals = text.slice(mark + 1);
	const isLong = mark >= 0 && decimals.length >= 4 && Number(decimals.slice(2)) === 0;
	const isDigits = [...decimals].every((one) => '0123456789'.includes(one));
	return isLong && isDigits ? text.slice(0, mark + 3) : text;
}

function dropped(text: string, drop: (rest: string) => string, end: 0 | -1): string {
	let rest = text;
	while (rest.at(end) === ' ') rest = drop(rest);
	return rest;
}

/** Every clear way to write reais and up to two decimals, blanks written as spaces. */
function spellings(reais: string, decimals: string): string[] {
	const ends = decimals === '' ? [''] : [`,${decimals}`, `.${decimals}`];
	const plain = ends.map((end) => reais + end);
	if (reais.length < 4 || reais.startsWith('0')) return plain;
	const byBlank = ends.map((end) => grouped(reais, ' ') + end);
	// A single group might be decimals. Only decimals or a second group make it clear.
	const isClear = decimals !== '' || reais.length > 6;
	const byPoint = grouped(reais, '.') + (decimals === '' ? '' : `,${decimals}`);
	const byComma = grouped(reais, ',') + (decimals === '' ? '' : `.${decimals}`);
	return [...plain, ...byBlank, ...(isClear ? [byPoint, byComma] : [])];
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
		reais: fc.oneof(fc.nat(9_999), fc.nat(90_071_992_547_408)),
		decimals: fc.oneof(
			fc.constant(''),
			fc.nat(99).map((cents) => String(cents).padStart(2, '0')),
		),
		spelling: fc.nat(),
		blanks: fc.array(blank, { minLength: 5, maxLength: 5 }),
		sign: fc.constantFrom('', ...['R$', 'r$', 'BRL', 'reais']),
		zeros: fc.constantFrom('', '', '00', '000'),
		hidden: fc.constantFrom('', '', ...INVISIBLE),
		isSignLast: fc.boolean(),
		between: fc.array(blank, { maxLength: 2 }).map((list) => list.join('')),
		margins: fc.tuple(margin, margin),
	})
	.map(({ reais, decimals, zeros, spelling, blanks, sign, hidden, ...where }) => {
		const { between, margins } = where;
		const isSignLast = where.isSignLast || sign === 'reais';
		const clear = spellings(String(reais), decimals);
		const left = [...blanks];
		const exact = (clear[spelling % clear.length] ?? '').replaceAll(' ', () => left.pop() ?? ' ');
		const number = exact + (decimals === '' ? '' : zeros);
		const signed = isSignLast ? number + between + sign : sign + between + number;
		return {
			text: margins.join(hidden + (sign === '' ? number : signed)),
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
