const DEPTH = 20_000;
const lists = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
const objects = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`;
const many = (count: number, text: string): string[] =>
	Array.from({ length: count }, (_, nth) => text.replace('N', String(nth)));
const byField = many(10_000, 'cart.N.price').map((name) => [name, many(20, `N ${'x'.repeat(60)}`)]);

/** Bodies of errors that overflow the stack, or the error, if they are read without a bound. */
export const HOSTILE_BODIES = {
	'20,000 lists in a message': `{"message":${lists}}`,
	'20,000 objects in a message': `{"message":${objects}}`,
	'20,000 lists in errors': `{"errors":${lists}}`,
	'20,000 objects in errors': `{"errors":${objects}}`,
	'20,000 lists': lists,
	'a message of 10 MB': JSON.stringify({ message: 'x'.repeat(10_000_000) }),
	'100,000 errors': JSON.stringify({ errors: many(100_000, 'Error N') }),
	'errors of 10,000 fields': JSON.stringify({ errors: Object.fromEntries(byField) }),
	'a field name of 1 MB': JSON.stringify({ errors: { ['f'.repeat(1_000_000)]: ['is odd'] } }),
	'fields named like built-ins':
		'{"errors":{"constructor":["A"],"__proto__":["B"],"toString":{"valueOf":["C"]}}}',
} as const;
