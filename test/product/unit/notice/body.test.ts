import * as fc from 'fast-check';
import { withoutSecrets } from '../../../../nodes/DigitalSales/notice/body';

const SECRET_NAMES = [
	'token',
	'access_token',
	'tokenOfAccount',
	'SECRET',
	'clientSecret',
	'password',
	'Password2',
	'api_key',
	'apiKey',
	'API-KEY',
	'api key',
	'authorization',
];
const OTHER_NAMES = [
	'hash',
	'status',
	'authorized_at',
	'authorization_code',
	'keys',
	'a',
	'__proto__',
];

type Pair = [whole: unknown, clean: unknown];

/** JSON with such names, and the same without those that name a secret. */
const { both } = fc.letrec<{ both: Pair; leaf: Pair }>((tie) => ({
	leaf: fc
		.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
		.map((value): Pair => [value, value]),
	both: fc.oneof(
		{ maxDepth: 5, withCrossShrink: true },
		tie('leaf'),
		fc
			.array(tie('both'), { maxLength: 4 })
			.map((pairs): Pair => [pairs.map(([whole]) => whole), pairs.map(([, clean]) => clean)]),
		fc
			.uniqueArray(fc.tuple(fc.constantFrom(...SECRET_NAMES, ...OTHER_NAMES), tie('both')), {
				maxLength: 6,
				selector: ([name]) => name,
			})
			.map(
				(fields): Pair => [
					Object.fromEntries(fields.map(([name, [whole]]) => [name, whole])),
					Object.fromEntries(
						fields
							.filter(([name]) => OTHER_NAMES.includes(name))
							.map(([name, [, clean]]) => [name, clean]),
					),
				],
			),
	),
}));

test('every field that is called a secret goes, at any depth, and all else stays', () => {
	fc.assert(
		fc.property(both, ([whole, clean]) => {
			expect(withoutSecrets(whole)).toStrictEqual(clean);
		}),
	);
});

test('a notice of thirty levels stays whole; what is nested deeper becomes null', () => {
	const nested = (levels: number): unknown => (levels === 0 ? 'end' : { a: [nested(levels - 1)] });

	expect(withoutSecrets(nested(15))).toEqual(nested(15));
	expect(JSON.stringify(withoutSecrets(nested(20)))).toBe(
		`${'{"a":['.repeat(16)}null${']}'.repeat(16)}`,
	);
});
