import type { ICredentialDataDecryptedObject, INodeProperties } from 'n8n-workflow';
import type { z } from 'zod';
import { DigitalSalesApi } from '../../../credentials/DigitalSalesApi.credentials';
import { displayPath } from '../../../nodes/DigitalSales/form/readForm';
import {
	cleanTextSchema,
	jsonObjectSchema,
	moneySchema,
	allowBlank,
	orderReferenceSchema,
	percentSchema,
	positiveNumberSchema,
	rejectBlank,
	textSchema,
	webAddressSchema,
	wholeNumberSchema,
	yesNoSchema,
} from '../../../nodes/DigitalSales/form/fields';
import { offerLocator, productLocator } from '../../../nodes/DigitalSales/form/locators';

/** The value that a field reads, or the list of its problems. */
function read(schema: z.ZodTypeAny, input: unknown): unknown {
	const result = schema.safeParse(input);
	return result.success ? result.data : result.error.issues.map(({ message }) => message);
}

const TOO_LARGE = ['is too large for a number; enter it as text'];
const NOT_ABOVE_0 = ['must be a number above 0, for example 1.5'];
const NO_PERCENTAGE = ['must be a percentage from 0 to 100, for example 12.5'];
const AT_LEAST_1 = ['must be a whole number of at least 1'];
const NO_OBJECT = ['must be a JSON object, for example {"expire_in_days": 3}'];
const NO_ADDRESS = ['must be a complete web address that starts with http:// or https://'];

describe('A field', () => {
	test.each<[string, z.ZodTypeAny, unknown, unknown]>([
		['a text', textSchema, ' a b ', 'a b'],
		['a text', textSchema, 'a\u200d\n b', 'a\u200d\n b'],
		['a text', textSchema, 12, '12'],
		['a text', textSchema, true, ['must be text']],
		['a text', textSchema, NaN, ['must be text']],
		['a text', textSchema, 9_007_199_254_740_991, '9007199254740991'],
		['a text', textSchema, 9_007_199_254_740_992, TOO_LARGE],
		['a text', textSchema, -Infinity, TOO_LARGE],
		[
			'an identifying text',
			cleanTextSchema,
			'\ufeff a\u200b\u2060\u202c\u00ad\n\t b\u0000 ',
			'a b',
		],
		['a reference', orderReferenceSchema, '\u200border\u20601 ', 'order1'],
		['a reference', orderReferenceSchema, 'Jose\u0301', 'José'],
		['a whole number', wholeNumberSchema(1), 1, 1],
		['a whole number', wholeNumberSchema(1), ' 12 ', 12],
		['a whole number', wholeNumberSchema(1), 0, AT_LEAST_1],
		['a whole number', wholeNumberSchema(1), 1.5, AT_LEAST_1],
		['a whole number', wholeNumberSchema(1), '1e3', AT_LEAST_1],
		['a whole number', wholeNumberSchema(0), '-0', ['must be a whole number of at least 0']],
		['a whole number', wholeNumberSchema(1), 2 ** 53, AT_LEAST_1],
		['a whole number', wholeNumberSchema(1), [1], AT_LEAST_1],
		['a whole number', wholeNumberSchema(1, 3), 3, 3],
		['a whole number', wholeNumberSchema(1, 3), 4, ['must be a whole number from 1 to 3']],
		['a positive number', positiveNumberSchema, 0.5, 0.5],
		['a positive number', positiveNumberSchema, ' 0,5 ', 0.5],
		['a positive number', positiveNumberSchema, 0, NOT_ABOVE_0],
		['a positive number', positiveNumberSchema, Infinity, NOT_ABOVE_0],
		['a positive number', positiveNumberSchema, '1e9', NOT_ABOVE_0],
		['a positive number', positiveNumberSchema, '-5', NOT_ABOVE_0],
		['a positive number', positiveNumberSchema, [1], NOT_ABOVE_0],
		['a percentage', percentSchema, 0, 0],
		['a percentage', percentSchema, 100, 100],
		['a percentage', percentSchema, '7', 7],
		['a percentage', percentSchema, '12.5', 12.5],
		['a percentage', percentSchema, -0.1, NO_PERCENTAGE],
		['a percentage', percentSchema, 100.1, NO_PERCENTAGE],
		['a yes or no', yesNoSchema, true, true],
		['a yes or no', yesNoSchema, 'true', true],
		['a yes or no', yesNoSchema, 'false', false],
		['a yes or no', yesNoSchema, 'yes', ['must be true or false']],
		['an address', webAddressSchema, 'https://example.com/\u200ba', 'https://example.com/a'],
		['an address', webAddressSchema, 'example.com', NO_ADDRESS],
		['an amount', moneySchema, '19,90', 1990],
		['a JSON object', jsonObjectSchema, '{"a": [1]}', { a: [1] }],
		['a JSON object', jsonObjectSchema, { a: 1 }, { a: 1 }],
		['a JSON object', jsonObjectSchema, '{"a"', NO_OBJECT],
		['a JSON object', jsonObjectSchema, '[1]', NO_OBJECT],
	])('for %s (%#) reads the typed value', (_name, schema, input, expected) => {
		expect(read(schema, input)).toEqual(expected);
		expect(read(allowBlank(schema), input)).toEqual(expected);
		expect(read(rejectBlank(schema), input)).toEqual(expected);
	});

	test.each([undefined, null, '', ' \n'])(
		'is blank with %j, which is refused if the field must be filled in',
		(blank) => {
			expect(read(allowBlank(textSchema), blank)).toBeUndefined();
			expect(read(rejectBlank(textSchema), blank)).toEqual(['is empty; fill it in']);
		},
	);

	test('for a percentage is refused if it is blank', () => {
		expect(read(percentSchema, '')).toEqual(NO_PERCENTAGE);
	});

	test.each<[unknown, z.ZodTypeAny]>([
		[0, wholeNumberSchema(0)],
		[false, yesNoSchema],
	])('is not blank with %j in it', (value, schema) => {
		expect(read(allowBlank(schema), value)).toBe(value);
		expect(read(rejectBlank(schema), value)).toBe(value);
	});
});

test.each<[ICredentialDataDecryptedObject, string]>([
	[{ apiToken: ' test-token\n' }, 'Bearer test-token'],
	[{ apiToken: ' Bearer test-token' }, 'Bearer test-token'],
	[{}, 'Bearer '],
])('a request with the credential %j carries "%s"', async (credential, expected) => {
	const url = 'https://api.example.com/v1/products';
	const headers = { Accept: 'text/plain' };

	const authenticated = await new DigitalSalesApi().authenticate(credential, { url, headers });

	expect(authenticated).toEqual({
		url,
		headers: { Accept: 'text/plain', Authorization: expected },
	});
	expect(headers).toEqual({ Accept: 'text/plain' });
});

const picked = (value: unknown): unknown => ({ __rl: true, mode: 'hash', value });
const ADDRESS = ['is an address, not a hash; enter the hash alone'];

describe('A locator', () => {
	test.each<[unknown, unknown]>([
		[picked(' ab12 '), 'ab12'],
		[picked(12), '12'],
		['ab12?of=https://pay.example.com', 'ab12?of=https://pay.example.com'],
		['\u200bab\u206012\ufeff', 'ab12'],
		[2 ** 56, TOO_LARGE],
		[picked('https://pay.example.com/ab12?x=1'), ADDRESS],
		['HTTP://pay.example.com/ab12', ADDRESS],
		[picked('..'), ['is not a hash']],
		[{ value: 'ab12' }, ['must be text']],
		[[], ['must be text']],
	])('reads %j as %j, whether or not it may be left empty', (input, expected) => {
		expect(read(productLocator.schema, input)).toEqual(expected);
		expect(read(offerLocator.schema, input)).toEqual(expected);
	});

	test.each([undefined, '', picked(''), picked(null)])('knows that %j is empty', (input) => {
		expect(read(productLocator.schema, input)).toEqual(['is empty; fill it in']);
		expect(read(offerLocator.schema, input)).toEqual(['is empty; fill it in']);
	});
});

const named = (name: string, displayName: string, more: Partial<INodeProperties> = {}) => ({
	name,
	displayName,
	type: 'string' as const,
	default: '',
	...more,
});

const PROPERTIES: INodeProperties[] = [
	named('price', 'Price in Reais'),
	named('cart', 'Cart', {
		type: 'fixedCollection',
		options: [{ name: 'items', displayName: 'Item', values: [named('title', 'Title')] }],
	}),
	named('more', 'More', { type: 'collection', options: [named('note', 'Note')] }),
	named('empty', 'Empty', { type: 'collection', options: undefined }),
	named('methods', 'Methods', { type: 'multiOptions', options: [{ name: 'Card', value: 1 }] }),
];

test.each<[Array<string | number>, string]>([
	[['price'], 'Price in Reais'],
	[['cart', 'items', 11, 'title'], 'Cart > Item 12 > Title'],
	[['more', 'note'], 'More > Note'],
	[['methods', 2], 'Methods 3'],
	[['methods', 'Card'], 'Methods > Card'],
	[['empty', 'note'], 'Empty > note'],
	[['strange', 'title'], 'strange > title'],
	[['cart', 'others', 1, 'title'], 'Cart > others 2 > title'],
])('%j is called "%s"', (path, expected) => {
	expect(displayPath(PROPERTIES, path)).toBe(expected);
});
