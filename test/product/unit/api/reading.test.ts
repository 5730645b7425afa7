import { isJsonObject } from '../../../../nodes/DigitalSales/shared/json';
import { readProductPage } from '../../../../nodes/DigitalSales/api/schemas/product';
import { readResource } from '../../../../nodes/DigitalSales/api/schemas/lenient';

describe('One resource of the service', () => {
	const resource = { hash: 'ab12', extra: { deep: [1] } };

	test.each<[string, unknown, unknown]>([
		['bare', resource, resource],
		['with a number for its hash', { hash: 12 }, { hash: 12 }],
		['wrapped', { success: true, data: resource }, resource],
		['wrapped as the first of a list', { data: [resource, { hash: 'cd34' }] }, resource],
		[
			'with data of its own',
			{ hash: 'ab12', data: { hash: 'x' } },
			{ hash: 'ab12', data: { hash: 'x' } },
		],
		['without a hash', { title: 'A' }, undefined],
		['with a blank hash', { hash: ' ' }, undefined],
		['with an object for its hash', { hash: {} }, undefined],
		['wrapped without a hash', { data: { title: 'A' } }, undefined],
		['wrapped in an empty list', { data: [] }, undefined],
		['wrapped in a list of texts', { data: ['ab12'] }, undefined],
		['wrapped in a text', { data: 'ab12' }, undefined],
		['wrapped in nothing', { data: null }, undefined],
		['wrapped twice', { data: { data: resource } }, undefined],
		['that is a list', [resource], undefined],
		['that is a text', 'ab12', undefined],
		['that is null', null, undefined],
		['that is not there', undefined, undefined],
	])('%s', (_name, body, expected) => {
		expect(readResource(body)).toEqual(expected);
	});
});

describe('A page of products', () => {
	const data = [{ hash: 'p1', unknown: 1 }];

	test.each<[string, unknown, unknown]>([
		[
			'as documented',
			{ data, meta: { last_page: 3, per_page: 30, total: 70 }, links: { next: 'x?page=2' } },
			{ data, lastPage: 3, total: 70, hasNext: true },
		],
		[
			'with texts for numbers',
			{ data, meta: { last_page: '3', per_page: ' 30 ', total: '70' }, links: { next: null } },
			{ data, lastPage: 3, total: 70, hasNext: false },
		],
		['without meta and links', { data }, { data }],
		['with null for meta and links', { data, meta: null, links: null }, { data }],
		['with meta and links of another kind', { data, meta: 3, links: { next: 3 } }, { data }],
		[
			'with figures that cannot be',
			{ data, meta: { last_page: -1, per_page: 1.5, total: 'many' } },
			{ data },
		],
		['with an empty link', { data, links: { next: '' } }, { data, hasNext: false }],
		['wrapped', { data: { data, meta: { total: 1 } } }, { data, total: 1 }],
		['that is a bare list', data, { data }],
		['that is empty', { data: [] }, { data: [] }],
		['whose products are texts', { data: ['p1'] }, undefined],
		['that is a bare list of texts', ['p1'], undefined],
		['of another shape', { hello: 1 }, undefined],
		['that is null', null, undefined],
	])('%s', (_name, body, expected) => {
		expect(readProductPage(body)).toEqual(expected);
	});
});

describe('What came out of JSON', () => {
	test.each([
		['{"a": 1}', true],
		['{}', true],
		['[]', false],
		['null', false],
		['"text"', false],
		['1', false],
	])('%s is an object: %p', (text, expected) => {
		expect(isJsonObject(JSON.parse(text))).toBe(expected);
	});

	test('is taken as it is, not copied', () => {
		const product = { hash: 'p1', offers: [{ hash: 'o1' }] };

		expect(readProductPage({ data: [product] })?.data[0]).toBe(product);
	});
});
