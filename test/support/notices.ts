import * as fc from 'fast-check';

/** Values of every JSON type, the right hash first; none of the others is a hash that exists. */
export function valuesFor(hash: string): Array<{ type: string; value: unknown; isRight: boolean }> {
	return [
		{ type: 'the right text', value: hash, isRight: true },
		{ type: 'another text', value: 'nosuch1', isRight: false },
		{ type: 'an empty text', value: '', isRight: false },
		{ type: 'a number', value: 4711, isRight: false },
		{ type: 'a digit text', value: '4711', isRight: false },
		{ type: 'true', value: true, isRight: false },
		{ type: 'null', value: null, isRight: false },
		{ type: 'a list', value: [hash], isRight: false },
		{ type: 'an object', value: { hash }, isRight: false },
		{ type: 'nothing', value: undefined, isRight: false },
	];
}

/** A notice of each shape with the given values where its hash and its status stand. */
export const SHAPES: Readonly<Record<string, (hash: unknown, status: unknown) => object>> = {
	A: (id, status) => ({
		token: 'token-of-the-notice',
		event: 'transaction',
		status,
		method: 'pix',
		transaction: { id, status: 'waiting_payment', amount: '1990' },
	}),
	B: (hash, payment_status) => ({
		event: 'transaction',
		id: 17,
		hash,
		payment_method: 'pix',
		payment_status,
		amount: 1990,
		transaction: 'second reference',
	}),
	C: (transaction_hash, status) => ({ transaction_hash, status, payment_method: 'pix' }),
};

const value = fc.oneof({ weight: 3, arbitrary: fc.string() }, fc.jsonValue());

/** Anything at all, and things that look nearly like a notice. */
export const bodies: fc.Arbitrary<string> = fc.oneof(
	fc.json(),
	fc.string(),
	fc.string({ unit: 'binary' }),
	fc
		.tuple(fc.constantFrom(...Object.values(SHAPES)), value, value)
		.map(([shape, hash, status]) => JSON.stringify(shape(hash, status))),
	fc
		.dictionary(fc.constantFrom('hash', 'data', 'transaction', 'id', 'status', '__proto__'), value)
		.map((fields) => JSON.stringify(fields)),
	fc.tuple(fc.json(), fc.nat(60)).map(([text, length]) => text.slice(0, length)),
);

export const contentTypes = fc.constantFrom(
	'application/json',
	'application/json; charset=utf-8',
	'text/plain',
	'application/x-www-form-urlencoded',
	'application/octet-stream',
);
