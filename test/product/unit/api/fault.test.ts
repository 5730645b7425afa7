import { readFault } from '../../../../nodes/DigitalSales/api/outcome';

/** Errors one within the other, the outermost first. */
function chain(...links: object[]): Error | undefined {
	const [first, ...others] = links;
	return first && Object.assign(new Error('Failed', { cause: chain(...others) }), first);
}

describe('What is read of a fault', () => {
	test.each([
		['its own code and call', chain({ code: 'ETIMEDOUT', syscall: 'connect' })],
		['those of its cause', chain({}, { code: 'ETIMEDOUT', syscall: 'connect' })],
		['those of several causes', chain({ code: 'ETIMEDOUT' }, {}, { syscall: 'connect' })],
		[
			'the outermost of several',
			chain({ code: 'ETIMEDOUT', syscall: 'connect' }, { code: 'ECONNRESET', syscall: 'read' }),
		],
		[
			'what names something, past what does not',
			chain({ code: 500, syscall: null }, { code: 'ETIMEDOUT', syscall: 'connect' }),
		],
		['five deep', chain({}, {}, {}, {}, { code: 'ETIMEDOUT', syscall: 'connect' })],
	])('%s', (_name, error) => {
		expect(readFault(error)).toEqual({ code: 'ETIMEDOUT', syscall: 'connect' });
	});

	test.each([
		['a text that is no name', 'Bearer test-token'],
		['a name with more before it', '-- ECONNRESET'],
		['a name with more after it', 'ECONNRESET test-token'],
		['a text too long for a name', 'E'.repeat(41)],
		['a single letter', 'E'],
		['a number', 500],
		['a list', ['ECONNRESET']],
	])('never %s', (_name, value) => {
		const { code, syscall } = readFault(chain({ code: value, syscall: value }));

		expect([code, syscall]).toEqual([undefined, undefined]);
	});

	test('nothing more of the error, which carries the request', () => {
		const error = chain({ code: 'ECONNRESET', config: { headers: { Authorization: 'x' } } });

		expect(Object.keys(readFault(error)).sort()).toEqual(['code', 'syscall']);
	});

	test('nothing below its fifth link, and nothing of what is no error', () => {
		const tooDeep = chain({}, {}, {}, {}, {}, { code: 'ECONNRESET', syscall: 'read' });

		for (const error of [tooDeep, undefined, null, 'ECONNRESET']) {
			const { code, syscall } = readFault(error);
			expect([code, syscall]).toEqual([undefined, undefined]);
		}
	});

	test('an end where an error is its own cause', () => {
		const error = new Error('Failed');
		error.cause = error;

		expect(readFault(error).code).toBeUndefined();
	});
});
