import { readFault } from '../../../../nodes/DigitalSales/api/outcome';

const UNKNOWN = { kind: 'interrupted', code: undefined };

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
		expect(readFault(error)).toEqual({ code: 'ETIMEDOUT', kind: 'notSent' });
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
		expect(readFault(chain({ code: value, syscall: value }))).toEqual(UNKNOWN);
	});

	test('nothing more of the error, which carries the request', () => {
		const request = { socket: null, headers: { Authorization: 'Bearer test-token' } };
		const response = { status: 403, headers: { 'set-cookie': 'test-token' } };
		const error = chain({ code: 'ECONNRESET', config: request, request, response });

		expect(JSON.stringify(readFault(error))).not.toContain('test-token');
	});

	test.each([
		['no socket yet', { socket: null }, 'notSent'],
		['a socket that nothing was written to', { socket: { bytesWritten: 0 } }, 'notSent'],
		[
			'TLS that is not established',
			{ socket: { secureConnecting: true, bytesWritten: 9 } },
			'notSent',
		],
		['TLS that is', { socket: { secureConnecting: false, bytesWritten: 9 } }, 'interrupted'],
		['a socket without TLS', { socket: { bytesWritten: 9 } }, 'interrupted'],
		['a socket that tells nothing', { socket: {} }, 'interrupted'],
		['no word of a socket', {}, 'interrupted'],
	])('that nothing was sent: %s', (_name, request, kind) => {
		expect(readFault(chain({}, { code: 'ECONNABORTED', request })).kind).toBe(kind);
	});

	test.each([
		['all of them failed to connect', ['connect', 'connect'], 'notSent'],
		['one failed later', ['connect', 'read'], 'interrupted'],
		['there are none', [], 'interrupted'],
	])('of several addresses, that nothing was sent if they %s', (_name, syscalls, kind) => {
		const errors = syscalls.map((syscall) => ({ code: 'ETIMEDOUT', syscall }));
		expect(readFault(chain({}, { code: 'ETIMEDOUT', errors })).kind).toBe(kind);
	});

	test.each([
		[{ code: 'ECONNREFUSED' }, 'notSent'],
		[{ code: 'ENOTFOUND' }, 'notSent'],
		[{ code: 'EAI_AGAIN' }, 'notSent'],
		[{ code: 'ETIMEDOUT', syscall: 'connect' }, 'notSent'],
		[{ code: 'ECONNRESET', syscall: 'getaddrinfo' }, 'notSent'],
		[{ name: 'SsrfBlockedIpError', code: 'ECONNREFUSED' }, 'blocked'],
		[{ code: 'ETIMEDOUT' }, 'interrupted'],
		[{ code: 'ECONNABORTED' }, 'interrupted'],
		[{ code: 'ECONNRESET', syscall: 'read' }, 'interrupted'],
		[{ code: 'EPIPE', syscall: 'write' }, 'interrupted'],
		[{}, 'interrupted'],
	])('that %j is %s', (fault, kind) => {
		expect(readFault(chain({}, fault)).kind).toBe(kind);
	});

	test('nothing below its fifth link, and nothing of what is no error', () => {
		const tooDeep = chain({}, {}, {}, {}, {}, { code: 'ECONNRESET', syscall: 'read' });

		for (const error of [tooDeep, undefined, null, 'ECONNRESET']) {
			expect(readFault(error)).toEqual(UNKNOWN);
		}
	});

	test('an end where an error is its own cause', () => {
		const error = new Error('Failed');
		error.cause = error;

		expect(readFault(error).code).toBeUndefined();
	});
});
