import {
	backoffMs,
	DEFAULT_RETRY_LIMITS,
	mayRetry,
	situationOfFault,
	situationOfStatus,
	rateLimitWaitMs,
	verdict,
	type Situation,
	type Verdict,
} from '../../../../nodes/DigitalSales/api/retryPolicy';

describe('What is sent again', () => {
	test.each<[Situation, Verdict, Verdict]>([
		['success', 'done', 'done'],
		['rejected', 'fail', 'fail'],
		['unclear', 'fail', 'unknownOutcome'],
		['rateLimited', 'retry', 'retry'],
		['unavailable', 'retry', 'unknownOutcome'],
		['serverError', 'fail', 'unknownOutcome'],
		['redirected', 'fail', 'fail'],
		['unreadable', 'fail', 'unknownOutcome'],
		['notSent', 'retry', 'retry'],
		['interrupted', 'retry', 'unknownOutcome'],
	])('%s: a GET is %s, a POST is %s', (situation, get, post) => {
		expect([verdict('GET', situation), verdict('POST', situation)]).toEqual([get, post]);
	});

	test.each<[Situation, number[]]>([
		['success', [200, 201, 204, 299]],
		['redirected', [300, 301, 307, 308, 399]],
		['rejected', [100, 199, 400, 401, 403, 404, 422, 428, 430]],
		['unclear', [302, 303, 408, 409, 425, 499]],
		['rateLimited', [429]],
		['serverError', [500, 501, 505, 520, 599]],
		['unavailable', [502, 503, 504]],
	])('%s is what %j says', (situation, statuses) => {
		for (const status of statuses) expect(situationOfStatus(status)).toBe(situation);
	});

	test.each([
		'ECONNREFUSED',
		'ENOTFOUND',
		'EAI_AGAIN',
		'CERT_HAS_EXPIRED',
		'CERT_NOT_YET_VALID',
		'DEPTH_ZERO_SELF_SIGNED_CERT',
		'SELF_SIGNED_CERT_IN_CHAIN',
		'UNABLE_TO_GET_ISSUER_CERT',
		'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
		'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
		'ERR_TLS_CERT_ALTNAME_INVALID',
	])('%s comes before anything is sent', (code) => {
		expect(situationOfFault({ code })).toBe('notSent');
	});

	test.each([
		[{ code: 'ETIMEDOUT', syscall: 'connect' }, 'notSent'],
		[{ code: 'ECONNRESET', syscall: 'getaddrinfo' }, 'notSent'],
		[{ code: 'ETIMEDOUT' }, 'interrupted'],
		[{ code: 'ECONNABORTED' }, 'interrupted'],
		[{ code: 'ECONNRESET', syscall: 'read' }, 'interrupted'],
		[{ code: 'EPIPE', syscall: 'write' }, 'interrupted'],
		[{}, 'interrupted'],
	])('the fault %j is %s', (fault, situation) => {
		expect(situationOfFault(fault)).toBe(situation);
	});
});

describe('How often and how long', () => {
	test.each([
		[1, 500],
		[2, 1_000],
		[3, 2_000],
		[6, 16_000],
		[7, 30_000],
		[50, 30_000],
	])('after failure %i up to %i ms pass', (failures, cap) => {
		expect([0, 0.5, 1].map((random) => backoffMs(failures, random))).toEqual([0, cap / 2, cap]);
	});

	test.each([
		[1, 5_000],
		[2, 10_000],
		[4, 40_000],
		[5, 60_000],
		[50, 60_000],
	])('after 429 number %i that does not say it, half of %i ms pass at least', (nth, cap) => {
		expect([0, 0.5, 1].map((random) => rateLimitWaitMs(nth, random))).toEqual([
			cap / 2,
			(cap * 3) / 4,
			cap,
		]);
	});

	test('five times within five minutes unless somebody wants it otherwise', () => {
		expect(DEFAULT_RETRY_LIMITS).toEqual({ maxTries: 5, maxTotalMs: 300_000 });
	});

	test.each([
		[{ failedTries: 2, elapsedMs: 400, delayMs: 600 }, true],
		[{ failedTries: 3, elapsedMs: 0, delayMs: 0 }, false],
		[{ failedTries: 0, elapsedMs: 401, delayMs: 600 }, false],
		[{ failedTries: 0, elapsedMs: 1_001, delayMs: 0 }, false],
		[{ failedTries: 0, elapsedMs: 0, delayMs: 1_000 }, true],
	])('three tries within a second allow another after %j: %p', (used, expected) => {
		expect(mayRetry({ maxTries: 3, maxTotalMs: 1_000 }, used)).toBe(expected);
	});
});
