import * as fc from 'fast-check';
import { readResponse } from '../../../../nodes/DigitalSales/api/response';
import { createRedactor } from '../../../../nodes/DigitalSales/api/redact';

const redact = createRedactor(['test-token']);
const read = (status: number, text: string | undefined, headers = {}) =>
	readResponse({ status, headers, text }, redact);

describe('An answer', () => {
	test.each<[string, string, unknown]>([
		['with blanks around it', ' \r\n{"hash":"ab"}\n', { hash: 'ab' }],
		['behind a byte order mark', '\ufeff{"hash":"ab"}', { hash: 'ab' }],
		['with such a mark inside', '{"title":"a\ufeffb"}', { title: 'a\ufeffb' }],
		['with a token in it', '{"title":"test-token"}', { title: '[token removed]' }],
	])('%s is read', (_name, text, body) => {
		expect(read(200, text)).toMatchObject({ kind: 'success', body });
	});

	test.each<[string, string | undefined, string]>([
		['nothing', '', 'unreadable'],
		['blanks', ' \n', 'unreadable'],
		['a byte order mark alone', '\ufeff', 'unreadable'],
		['too much', undefined, 'tooLarge'],
		['a text', 'OK', 'unreadable'],
		['JSON that was cut short', '{"hash":"ab', 'unreadable'],
		['a text that speaks of a page', 'no <html here', 'unreadable'],
		['lists in lists that never end', '['.repeat(100_000), 'unreadable'],
		['a page', '<!DOCTYPE html><title>x</title>', 'webPage'],
		['a page with blanks before it', '\n  <html lang="pt">', 'webPage'],
		['a page without its frame', '<body>x</body>', 'webPage'],
	])('of %s is no success', (_name, text, kind) => {
		expect(read(200, text)).toMatchObject({ kind, body: undefined });
	});

	test('that says it failed is a refusal, unless it holds a hash: then something was made', () => {
		expect(read(200, '{"success":false}').kind).toBe('rejected');
		expect(read(409, '{"success":false}').kind).toBe('rejected');
		expect(read(200, '{"success":false,"hash":"ab12"}').kind).toBe('success');
		expect(read(200, '{"success":"false","data":{"hash":"ab12"}}').kind).toBe('success');
		expect(read(409, '{"success":false,"hash":"ab12"}').kind).toBe('unclear');
	});

	test.each([
		[409, 'unclear'],
		[422, 'rejected'],
		[500, 'serverError'],
	])('under %i of more than a million characters is not parsed', (status, kind) => {
		const parse = jest.spyOn(JSON, 'parse');

		const long = read(status, `{"message":"No","x":"${'x'.repeat(1_048_576)}"}`);

		expect(parse.mock.calls).toHaveLength(0);
		expect(long).toMatchObject({ kind, body: undefined, words: { messages: [] } });
		expect(read(status, `{"message":"No","x":"${'x'.repeat(1_000_000)}"}`).words.messages).toEqual([
			'No',
		]);
		parse.mockRestore();
	});

	test.each([
		['lists', '[', '', ']'],
		['objects', '{"a":', '1', '}'],
		['what is cut short', '[{"a":', '', ''],
	])('of %s without end is cut before it is parsed', (_name, open, inner, close) => {
		const parse = jest.spyOn(JSON, 'parse');

		read(200, open.repeat(150_000) + inner + close.repeat(150_000));

		expect(parse.mock.calls.map(([text]) => text.length < 1_000)).toEqual([true]);
		parse.mockRestore();
	});

	test('is read 64 levels deep, whatever stands in its texts', () => {
		const cut = '[removed: nested too deeply]';
		const nested = (levels: number, value: unknown, from = levels): unknown => {
			if (levels === 0) return value;
			if (from - levels === 63) return cut;
			const inner = nested(levels - 1, value, from);
			return levels % 2 === 0 ? [inner] : { '[{"': inner };
		};
		const whole = (levels: number): unknown =>
			levels === 0 ? 1 : levels % 2 === 0 ? [whole(levels - 1)] : { '[{"': whole(levels - 1) };
		const signs = fc
			.array(fc.constantFrom('"', '\\', '[', ']', '{', '}', 'a'))
			.map((all) => all.join(''));
		fc.assert(
			fc.property(fc.array(signs), fc.integer({ min: 60, max: 67 }), (texts, levels) => {
				const { body } = read(200, JSON.stringify({ texts, deep: whole(levels), last: texts }));
				expect(body).toEqual({ texts, deep: nested(levels, 1), last: texts });
			}),
			{ numRuns: 50 },
		);
	});

	test.each<[number, string, boolean]>([
		[404, '<html>', true],
		[500, '<html>', true],
		// A proxy's own page, not that of a wrong address.
		[503, '<html>', false],
		[302, '<html>', false],
		[404, 'Not found', false],
		[404, '', false],
	])('under %i with the body %j is one of a web page: %j', (status, text, isWebPage) => {
		expect(read(status, text).isWebPage).toBe(isWebPage);
	});

	test.each([
		['https://u:p@b.example.com:8443/v1?token=1#t', 'https://b.example.com:8443/v1'],
		['https://b.example.com/test-token/v1', 'https://b.example.com/[token removed]/v1'],
		['/v2/x?token=1', '/v2/x'],
		['/v2/test-token#?token=1', '/v2/[token removed]'],
		['../v2\n?token=1\n#x', '../v2\n'],
		['https://Test-Token.example.com/v1', 'https://[token removed].example.com/v1'],
		['https://test%2Dtoken.example.com/v1', 'https://[token removed].example.com/v1'],
		['https://b.example.com/test%2Dtoken', '[text removed: it contains a token]'],
		['//TEST-TOKEN/v2', '//[token removed]/v2'],
		[['/a', '/b'], undefined],
		[undefined, undefined],
	])('that redirects to %j shows no more of it than %j', (location, expected) => {
		expect(read(302, '', { location }).redirectedTo).toBe(expected);
	});

	test.each([
		[201, undefined],
		[300, '/transactions/ab'],
		[399, '/transactions/ab'],
		[400, undefined],
	])('under %i with a Location names the address %j', (status, address) => {
		expect(read(status, '{}', { location: '/transactions/ab?x=1' }).redirectedTo).toBe(address);
	});

	test('of a success is read however long it is, that of a failure is not', () => {
		const long = JSON.stringify({ message: 'No', padding: 'x'.repeat(1_048_576) });

		expect(read(200, long).body).toHaveProperty('message', 'No');
		expect(read(500, long).body).toBeUndefined();
	});
});
