import * as fc from 'fast-check';
import { NOTICE_SHAPES, noticeBody, type StoredTransaction } from '../sandbox';

/** Makes the body of a webhook with the given hash and status. */
type Forge = (hash: unknown, status: unknown) => unknown;

/** The sandbox's webhook about a transaction in each shape, for sending it with other values. */
export function forgers(stored: StoredTransaction): Forge[] {
	const places = { hash: 'place of the hash', payment_status: 'place of the status' };
	return NOTICE_SHAPES.map((shape) => {
		const body = JSON.stringify(noticeBody({ ...stored, ...places }, shape));
		return (hash, status): unknown =>
			JSON.parse(body, (_, value: unknown) => {
				if (value === places.hash) return hash;
				return value === places.payment_status ? status : value;
			});
	});
}

const NAMES = [
	...['hash', 'transaction_hash', 'data', 'transaction', 'id', 'status', 'payment_status'],
	'__proto__',
];
const value = fc.oneof({ weight: 3, arbitrary: fc.string() }, fc.jsonValue());

/** Arbitrary bodies, and bodies that almost look like a webhook about a transaction. */
export function bodiesLike(stored: StoredTransaction): fc.Arbitrary<string> {
	return fc.oneof(
		fc.json(),
		fc.string(),
		fc.string({ unit: 'binary' }),
		fc
			.tuple(fc.constantFrom(...forgers(stored)), value, value)
			.map(([forge, hash, status]) => JSON.stringify(forge(hash, status))),
		fc.dictionary(fc.constantFrom(...NAMES), value).map((fields) => JSON.stringify(fields)),
		fc.tuple(fc.json(), fc.nat(60)).map(([text, length]) => text.slice(0, length)),
	);
}

export const contentTypes = fc.constantFrom(
	'application/json',
	'application/json; charset=utf-8',
	'text/plain',
	'application/x-www-form-urlencoded',
	'application/octet-stream',
);

const DEPTH = 20_000;
const lists = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
const objects = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`;
const many = (count: number, text: string): string[] =>
	Array.from({ length: count }, (_, nth) => text.replace('N', String(nth)));
const byField = many(3_000, 'cart.N.price').map((name) => [name, many(20, `N ${'x'.repeat(60)}`)]);

/** Error bodies that overflow the stack or the error text if they are read without a limit. */
export const HOSTILE_ERRORS = {
	'20,000 lists in a message': `{"message":${lists}}`,
	'20,000 objects in a message': `{"message":${objects}}`,
	'20,000 lists in errors': `{"errors":${lists}}`,
	'20,000 objects in errors': `{"errors":${objects}}`,
	'20,000 lists': lists,
	'a message of 10 MB': JSON.stringify({ message: 'x'.repeat(10_000_000) }),
	'30,000 errors': JSON.stringify({ errors: many(30_000, 'Error N') }),
	'errors of 3,000 fields': JSON.stringify({ errors: Object.fromEntries(byField) }),
	'a field name of 1 MB': JSON.stringify({ errors: { ['f'.repeat(1_000_000)]: ['is odd'] } }),
	'fields named like built-ins':
		'{"errors":{"constructor":["A"],"__proto__":["B"],"toString":{"valueOf":["C"]}}}',
} as const;
