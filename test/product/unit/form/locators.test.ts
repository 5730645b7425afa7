import { locatorField, optionalLocatorField } from '../../../../nodes/DigitalSales/form/locators';

const picked = (value: unknown, mode = 'hash'): unknown => ({ __rl: true, mode, value });
const EMPTY = 'is empty; choose one or enter its hash';
const NONE = 'is an address without a hash; choose from the list or enter the hash';

/** What a locator reads: the value, or what it says is wrong. */
function read(schema: typeof locatorField | typeof optionalLocatorField, input: unknown): unknown {
	const result = schema.safeParse(input);
	return result.success ? result.data : result.error.issues.map(({ message }) => message);
}

describe('A locator', () => {
	test.each<[unknown, unknown]>([
		[picked('ab12'), { hash: 'ab12' }],
		[picked(' ab12 '), { hash: 'ab12' }],
		[picked(12), { hash: '12' }],
		['ab12', { hash: 'ab12' }],
		['ab12?of=https://pay.example.com', { hash: 'ab12?of=https://pay.example.com' }],
		[12, { hash: '12' }],
		['\u200bab\u206012\ufeff', { hash: 'ab12' }],
		[2 ** 56, ['is too large for a number; enter it as text']],
		[
			picked('https://pay.example.com/ab12?x=1', 'url'),
			{ hash: 'ab12', address: 'https://pay.example.com/ab12?x=1' },
		],
		['HTTP://pay.example.com/ab12', { hash: 'ab12', address: 'HTTP://pay.example.com/ab12' }],
		[picked('https://pay.example.com/', 'url'), [NONE]],
		[picked('..'), ['is not a hash']],
		['.', ['is not a hash']],
	])('reads %j as %j, whether or not it may be left empty', (input, expected) => {
		expect(read(locatorField, input)).toEqual(expected);
		expect(read(optionalLocatorField, input)).toEqual(expected);
	});

	test.each([undefined, null, '', picked(''), picked(null), picked(undefined)])(
		'knows that %j is empty',
		(input) => {
			expect(read(locatorField, input)).toEqual([EMPTY]);
			expect(read(optionalLocatorField, input)).toBeUndefined();
		},
	);

	test.each([{}, { value: 'ab12' }, true, []])('takes %j for no text', (input) => {
		expect(read(locatorField, input)).toEqual(['must be text']);
		expect(read(optionalLocatorField, input)).toEqual(['must be text']);
	});
});
