import { Readable } from 'node:stream';
import {
	backoffMs,
	type AnswerKind,
	rateLimitWaitMs,
} from '../../../nodes/DigitalSales/api/retryTable';
import { kindOfStatus } from '../../../nodes/DigitalSales/api/response';
import { readFault, takeAnswer } from '../../../nodes/DigitalSales/n8n/httpHelper';

describe('The retry table', () => {
	test.each<[AnswerKind, number[]]>([
		['success', [200, 201, 204, 299]],
		['redirected', [300, 301, 307, 308, 399]],
		['rejected', [100, 199, 400, 405, 422, 428, 430]],
		['badToken', [401, 403]],
		['notFound', [404]],
		['seeOther', [302, 303]],
		['unclear', [409, 500, 501, 505, 519]],
		['rateLimited', [429]],
		['unavailable', [408, 425, 499, 502, 503, 504, 520, 527, 599, 999]],
	])('the kind %s stands for %j', (kind, statuses) => {
		for (const status of statuses) expect(kindOfStatus(status)).toBe(kind);
	});
});

describe('Retries', () => {
	test.each([
		[1, 500],
		[2, 1_000],
		[3, 2_000],
		[4, 4_000],
	])('after failure %i wait at most %i ms', (failures, cap) => {
		expect([0, 0.5, 1].map((random) => backoffMs(failures, random))).toEqual([0, cap / 2, cap]);
	});

	test.each([
		[1, 5_000],
		[2, 10_000],
		[3, 20_000],
		[50, 20_000],
	])('after 429 number %i wait at least half of %i ms', (nth, cap) => {
		const waits = [0, 0.5, 1].map((random) => rateLimitWaitMs(nth, random));

		expect(waits).toEqual([cap / 2, (cap * 3) / 4, cap]);
	});
});

const UNKNOWN = { kind: 'interrupted', code: undefined };

/** Errors one within the other, the outermost first. */
function chain(...links: object[]): Error | undefined {
	const [first, ...others] = links;
	return first && Object.assign(new Error('Failed', { cause: chain(...others) }), first);
}

describe('A fault', () => {
	const CONNECTING = { code: 'ETIMEDOUT', syscall: 'connect' };

	test.each([
		['its own code and call', chain(CONNECTING)],
		['its cause', chain({}, CONNECTING)],
		['several causes together', chain({ code: 'ETIMEDOUT' }, {}, { syscall: 'connect' })],
		['the outermost of several causes', chain(CONNECTING, { code: 'ECONNRESET', syscall: 'read' })],
		['a cause if its own code is not a name', chain({ code: 500, syscall: null }, CONNECTING)],
		['a cause five levels deep', chain({}, {}, {}, {}, CONNECTING)],
	])('is read from %s', (_name, error) => {
		expect(readFault(error)).toEqual({ code: 'ETIMEDOUT', kind: 'notSent' });
	});

	test.each([
		['a text that is not a name', 'Bearer test-token'],
		['a name with more before it', '-- ECONNRESET'],
		['a name with more after it', 'ECONNRESET test-token'],
		['a text too long for a name', 'E'.repeat(41)],
		['a single letter', 'E'],
		['a number', 500],
		['a list', ['ECONNRESET']],
	])('is never read from %s', (_name, value) => {
		expect(readFault(chain({ code: value, syscall: value }))).toEqual(UNKNOWN);
	});

	test.each([
		['no socket yet', { socket: null }, 'notSent'],
		['a socket that nothing was written to', { socket: { bytesWritten: 0 } }, 'notSent'],
		['unfinished TLS', { socket: { secureConnecting: true, bytesWritten: 9 } }, 'notSent'],
		['finished TLS', { socket: { secureConnecting: false, bytesWritten: 9 } }, 'interrupted'],
		['a socket without TLS', { socket: { bytesWritten: 9 } }, 'interrupted'],
		['a socket without figures', { socket: {} }, 'interrupted'],
		['nothing about its socket', {}, 'interrupted'],
	])('of a request with %s says whether it was sent: %j is %s', (_name, request, kind) => {
		expect(readFault(chain({}, { code: 'ECONNABORTED', request })).kind).toBe(kind);
	});

	test.each([
		['all of them failed to connect', ['connect', 'connect'], 'notSent'],
		['one of them failed later', ['connect', 'read'], 'interrupted'],
		['there are none', [], 'interrupted'],
	])('of several addresses if %s: %j is %s', (_name, syscalls, kind) => {
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
	])('from %j has the kind %s', (fault, kind) => {
		expect(readFault(chain({}, fault)).kind).toBe(kind);
	});

	test('and the answer are read from an error without causes, as n8n throws it below 2.35.0', () => {
		const body = Readable.from(['{}']);
		const refused = Object.assign(new Error(), { httpCode: '403', context: { data: body } });
		const unreachable = Object.assign(new Error(), { httpCode: 'ECONNREFUSED', context: {} });

		expect(takeAnswer(refused)).toMatchObject({ statusCode: 403, body });
		expect(readFault(unreachable)).toEqual({ code: 'ECONNREFUSED', kind: 'notSent' });
		expect(() => takeAnswer(unreachable)).toThrow(unreachable);
	});

	test('is read five causes deep, and from errors only', () => {
		const circular = new Error('Failed');
		circular.cause = circular;
		const tooDeep = chain({}, {}, {}, {}, {}, { code: 'ECONNRESET', syscall: 'read' });

		for (const error of [tooDeep, circular, undefined, null, 'ECONNRESET']) {
			expect(readFault(error)).toEqual(UNKNOWN);
		}
	});
});
