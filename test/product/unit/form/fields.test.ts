import type { ICredentialDataDecryptedObject, INodeProperties } from 'n8n-workflow';
import type { z } from 'zod';
import { DigitalSalesApi } from '../../../../credentials/DigitalSalesApi.credentials';
import { emailField } from '../../../../nodes/DigitalSales/actions/transaction/create.form';
import { displayPath } from '../../../../nodes/DigitalSales/form/readForm';
import {
	cleanTextField,
	hashField,
	jsonObjectField,
	moneyField,
	optional,
	optionalReferenceField,
	percentField,
	positiveNumberField,
	required,
	textField,
	webAddressField,
	wholeNumberField,
	yesNoField,
} from '../../../../nodes/DigitalSales/form/fields';
import { offerLocator, productLocator } from '../../../../nodes/DigitalSales/form/locators';

/** What a field reads: the value, or in a list what it says is wrong. */
function read(schema: z.ZodTypeAny, input: unknown): unknown {
	const result = schema.safeParse(input);
	return result.success ? result.data : result.error.issues.map(({ message }) => message);
}

const BLANKS = [undefined, null, '', ' \n'];
const TOO_LARGE = ['is too large for a number; enter it as text'];
const NO_NUMBER = ['must be a number'];
const NOT_ABOVE_0 = ['must be a number above 0, for example 1.5'];
const NO_PERCENTAGE = ['must be a percentage from 0 to 100, for example 12.5'];
const NO_YES_OR_NO = ['must be true or false'];
const FROM_1_TO_3 = ['must be a whole number from 1 to 3'];
const AT_LEAST_1 = ['must be a whole number of at least 1'];
const NO_OBJECT = ['must be a JSON object, for example {"expire_in_days": 3}'];
const NO_ADDRESS = ['must be a complete web address that starts with http:// or https://'];

describe('A field', () => {
	test.each<[string, z.ZodTypeAny, unknown, unknown]>([
		['a text', textField, ' a b ', 'a b'],
		['a text', textField, 12, '12'],
		['a text', textField, true, ['must be text']],
		['a text', textField, NaN, ['must be text']],
		['a text', textField, 9_007_199_254_740_991, '9007199254740991'],
		['a text', textField, 9_007_199_254_740_992, TOO_LARGE],
		['a text', textField, -Infinity, TOO_LARGE],
		['a text', textField, 'a\u200d\n b', 'a\u200d\n b'],
		['an identifying text', cleanTextField, '\ufeff a\u200b\u2060\u202c\u00ad\n\t b\u0000 ', 'a b'],
		['a reference', optionalReferenceField, '\u200border\u20601 ', 'order1'],
		['a reference', optionalReferenceField, 'Jose\u0301', 'José'],
		['a reference', optionalReferenceField, 2 ** 56, TOO_LARGE],
		['a text', textField, { a: 1 }, ['must be text']],
		['a whole number', wholeNumberField(1), 1, 1],
		['a whole number', wholeNumberField(1), ' 12 ', 12],
		['a whole number', wholeNumberField(1), 0, AT_LEAST_1],
		['a whole number', wholeNumberField(1), 1.5, AT_LEAST_1],
		['a whole number', wholeNumberField(1), '1.5', AT_LEAST_1],
		['a whole number', wholeNumberField(1), '12a', AT_LEAST_1],
		['a whole number', wholeNumberField(1), 'a12', AT_LEAST_1],
		['a whole number', wholeNumberField(1), '1.0', AT_LEAST_1],
		['a whole number', wholeNumberField(1), '1e3', AT_LEAST_1],
		['a whole number', wholeNumberField(0), '-0', ['must be a whole number of at least 0']],
		['a whole number', wholeNumberField(1), '１', AT_LEAST_1],
		['a whole number', wholeNumberField(1), 2 ** 53, AT_LEAST_1],
		['a whole number', wholeNumberField(1), '9007199254740992', AT_LEAST_1],
		['a whole number', wholeNumberField(1), NaN, AT_LEAST_1],
		['a whole number', wholeNumberField(1), [1], AT_LEAST_1],
		['a whole number', wholeNumberField(1, 3), 3, 3],
		['a whole number', wholeNumberField(1, 3), 4, FROM_1_TO_3],
		['a whole number', wholeNumberField(1, 3), true, FROM_1_TO_3],
		['a positive number', positiveNumberField, 0.5, 0.5],
		['a positive number', positiveNumberField, ' 0,5 ', 0.5],
		['a positive number', positiveNumberField, '0.5', 0.5],
		['a positive number', positiveNumberField, 0, NOT_ABOVE_0],
		['a positive number', positiveNumberField, Infinity, NOT_ABOVE_0],
		['a positive number', positiveNumberField, 'soon', NOT_ABOVE_0],
		...['0x10', '1e9', '1.234,5', '1,5,5', '+5', '-5', '5.', '.5', '１', 'Infinity'].map(
			(text): [string, z.ZodTypeAny, unknown, unknown] => [
				'a positive number',
				positiveNumberField,
				text,
				NOT_ABOVE_0,
			],
		),
		['a positive number', positiveNumberField, [1], NO_NUMBER],
		['a percentage', percentField, 0, 0],
		['a percentage', percentField, 100, 100],
		['a percentage', percentField, ' 7,5 ', 7.5],
		['a percentage', percentField, '12.5', 12.5],
		['a percentage', percentField, '0', 0],
		['a percentage', percentField, '5%', NO_PERCENTAGE],
		['a percentage', percentField, '-0', NO_PERCENTAGE],
		['a percentage', percentField, -0.1, NO_PERCENTAGE],
		['a percentage', percentField, 100.1, NO_PERCENTAGE],
		['a percentage', percentField, 'half', NO_PERCENTAGE],
		['a percentage', percentField, [5], NO_NUMBER],
		['a yes or no', yesNoField, true, true],
		['a yes or no', yesNoField, false, false],
		['a yes or no', yesNoField, 'true', true],
		['a yes or no', yesNoField, 'false', false],
		['a yes or no', yesNoField, 'yes', NO_YES_OR_NO],
		['a yes or no', yesNoField, 1, NO_YES_OR_NO],
		['a hash', hashField, ' ab12 ', 'ab12'],
		['a hash', hashField, '\u200bab\u202c12', 'ab12'],
		['a hash', hashField, '..', ['is not a hash']],
		['an address', webAddressField, 'https://example.com/a', 'https://example.com/a'],
		['an address', webAddressField, 'https://example.com/\u200ba', 'https://example.com/a'],
		['an address', webAddressField, 'https://example.com/a b', NO_ADDRESS],
		['an address', webAddressField, 'example.com', NO_ADDRESS],
		['an amount', moneyField, '19,90', 1990],
		['a JSON object', jsonObjectField, '{"a": [1]}', { a: [1] }],
		['a JSON object', jsonObjectField, { a: 1 }, { a: 1 }],
		['a JSON object', jsonObjectField, '{"a"', NO_OBJECT],
		['a JSON object', jsonObjectField, '[1]', NO_OBJECT],
		['a JSON object', jsonObjectField, 'null', NO_OBJECT],
		['a JSON object', jsonObjectField, 1, NO_OBJECT],
	])('for %s (%#) reads what was typed', (_name, schema, input, expected) => {
		expect(read(schema, input)).toEqual(expected);
		expect(read(optional(schema), input)).toEqual(expected);
		expect(read(required(schema), input)).toEqual(expected);
	});

	test.each(BLANKS)('may be left empty, or must be filled in: %j', (blank) => {
		expect(read(optional(textField), blank)).toBeUndefined();
		expect(read(required(textField), blank)).toEqual(['is empty; fill it in']);
	});

	test.each(['', ' \n'])('is no percentage where it is blank: %j', (blank) => {
		expect(read(percentField, blank)).toEqual(NO_PERCENTAGE);
	});

	test.each([0, false])('is not empty with %j in it', (value) => {
		const schema = value === 0 ? wholeNumberField(0) : yesNoField;
		expect(read(optional(schema), value)).toBe(value);
		expect(read(required(schema), value)).toBe(value);
	});
});

describe('The address of a customer', () => {
	test.each([
		'maria',
		'a b@example.com',
		'maria@example',
		'@example.com',
		'a@b.c d',
		'a@b@c.de x',
		'maria@example.com.',
		'maria@.com',
		'maria@example..com',
		'mailto:maria@example.com',
		'"maria@example.com"',
		'(maria@example.com)',
		'maria@example.com?subject=x',
		'maria@example.com,',
		'Maria <maria@example.com>',
		'a@example.com;b@example.com',
		`${'a'.repeat(243)}@example.com`,
	])('is no e-mail address: %s', (email) => {
		expect(read(emailField, email)).toEqual(['is not an e-mail address']);
	});

	test.each(['maria+n8n@mail.example.com', "o'neil@example.com", `${'a'.repeat(242)}@example.com`])(
		'is an e-mail address: %s',
		(email) => {
			expect(read(emailField, `\u200b${email}\u2060 `)).toBe(email);
		},
	);
});

test.each<[ICredentialDataDecryptedObject, string]>([
	[{ apiToken: 'test-token' }, 'Bearer test-token'],
	[{ apiToken: ' test-token\n' }, 'Bearer test-token'],
	[{ apiToken: '' }, 'Bearer '],
	[{}, 'Bearer '],
])(
	'a request of anybody with the credential %j carries "%s"',
	async (credential, authorization) => {
		const request = {
			url: 'https://api.example.com/v1/products',
			headers: { Accept: 'text/plain' },
		};

		const authenticated = await new DigitalSalesApi().authenticate(credential, request);

		expect(authenticated).toEqual({
			...request,
			headers: { Accept: 'text/plain', Authorization: authorization },
		});
		expect(request.headers).toEqual({ Accept: 'text/plain' });
	},
);

const picked = (value: unknown, mode = 'hash'): unknown => ({ __rl: true, mode, value });
const EMPTY = 'is empty; fill it in';
const ADDRESS = 'is an address, not a hash; enter the hash alone';

describe('A locator', () => {
	test.each<[unknown, unknown]>([
		[picked('ab12'), 'ab12'],
		[picked(' ab12 '), 'ab12'],
		[picked(12), '12'],
		['ab12', 'ab12'],
		['ab12?of=https://pay.example.com', 'ab12?of=https://pay.example.com'],
		[12, '12'],
		['\u200bab\u206012\ufeff', 'ab12'],
		[2 ** 56, ['is too large for a number; enter it as text']],
		[picked('https://pay.example.com/ab12?x=1'), [ADDRESS]],
		['HTTP://pay.example.com/ab12', [ADDRESS]],
		[picked('..'), ['is not a hash']],
		['.', ['is not a hash']],
	])('reads %j as %j, whether or not it may be left empty', (input, expected) => {
		expect(read(productLocator.schema, input)).toEqual(expected);
		expect(read(offerLocator.schema, input)).toEqual(expected);
	});

	test.each([undefined, null, '', picked(''), picked(null), picked(undefined)])(
		'knows that %j is empty',
		(input) => {
			expect(read(productLocator.schema, input)).toEqual([EMPTY]);
			expect(read(offerLocator.schema, input)).toBeUndefined();
		},
	);

	test.each([{}, { value: 'ab12' }, true, []])('takes %j for no text', (input) => {
		expect(read(productLocator.schema, input)).toEqual(['must be text']);
		expect(read(offerLocator.schema, input)).toEqual(['must be text']);
	});
});

const text = (name: string, displayName: string, more: Partial<INodeProperties> = {}) => ({
	name,
	displayName,
	type: 'string' as const,
	default: '',
	...more,
});

const PROPERTIES: INodeProperties[] = [
	text('price', 'Price in Reais'),
	{
		...text('cart', 'Cart'),
		type: 'fixedCollection',
		options: [{ name: 'items', displayName: 'Item', values: [text('title', 'Title')] }],
	},
	{ ...text('more', 'More'), type: 'collection', options: [text('note', 'Note')] },
	{ ...text('empty', 'Empty'), type: 'collection', options: undefined },
	{ ...text('methods', 'Methods'), type: 'multiOptions', options: [{ name: 'Card', value: 1 }] },
];

test.each<[Array<string | number>, string]>([
	[['price'], 'Price in Reais'],
	[['cart', 'items', 0, 'title'], 'Cart > Item 1 > Title'],
	[['cart', 'items', 11], 'Cart > Item 12'],
	[['more', 'note'], 'More > Note'],
	[['methods', 2], 'Methods 3'],
	[['methods', 'Card'], 'Methods > Card'],
	[['empty', 'note'], 'Empty > note'],
	[['strange'], 'strange'],
	[['strange', 'title'], 'strange > title'],
	[['price', 'title'], 'Price in Reais > title'],
	[['cart', 'others', 1, 'title'], 'Cart > others 2 > title'],
	[[], ''],
])('%j is called "%s"', (path, expected) => {
	expect(displayPath(PROPERTIES, path)).toBe(expected);
});
