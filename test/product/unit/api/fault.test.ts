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
		const request = { socket: null, headers: { Authorization: 'Bearer test-token' } };
		const response = { status: 403, headers: { 'set-cookie': 'test-token' } };
		const error = chain({ code: 'ECONNRESET', config: request, request, response });

		expect(JSON.stringify(readFault(error))).not.toContain('test-token');
	});

	test.each([
		['no socket yet', { socket: null }, true],
		['a socket that nothing was written to', { socket: { bytesWritten: 0 } }, true],
		['TLS that is not established', { socket: { secureConnecting: true, bytesWritten: 9 } }, true],
		['TLS that is', { socket: { secureConnecting: false, bytesWritten: 9 } }, undefined],
		['a socket without TLS', { socket: { bytesWritten: 9 } }, undefined],
		['a socket that tells nothing', { socket: {} }, undefined],
		['no word of a socket', {}, undefined],
	])('that nothing was sent: %s', (_name, request, isUnsent) => {
		expect(readFault(chain({}, { code: 'ECONNABORTED', request })).isUnsent).toBe(isUnsent);
	});

	test.each([
		['all of them failed to connect', ['connect', 'connect'], true],
		['one failed later', ['connect', 'read'], undefined],
		['there are none', [], undefined],
	])('of several addresses, that nothing was sent if they %s', (_name, syscalls, isUnsent) => {
		const errors = syscalls.map((syscall) => ({ code: 'ETIMEDOUT', syscall }));
		expect(readFault(chain({}, { code: 'ETIMEDOUT', errors })).isUnsent).toBe(isUnsent);
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
