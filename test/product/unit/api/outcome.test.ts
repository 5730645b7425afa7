import {
	kindOfFault,
	kindOfStatus,
	retryDecision,
	type OutcomeKind,
	type RetryDecision,
} from '../../../../nodes/DigitalSales/api/outcome';

describe('What is sent again', () => {
	test.each<[OutcomeKind, RetryDecision, RetryDecision]>([
		['success', 'done', 'done'],
		['rejected', 'fail', 'fail'],
		['unclear', 'fail', 'inDoubt'],
		['rateLimited', 'retry', 'retry'],
		['unavailable', 'retry', 'inDoubt'],
		['serverError', 'fail', 'inDoubt'],
		['redirected', 'fail', 'fail'],
		['unreadable', 'fail', 'inDoubt'],
		['notSent', 'retry', 'retry'],
		['blocked', 'fail', 'fail'],
		['interrupted', 'retry', 'inDoubt'],
	])('%s: a GET is %s, a POST is %s', (kind, get, post) => {
		expect([retryDecision('GET', kind), retryDecision('POST', kind)]).toEqual([get, post]);
	});

	test.each<[OutcomeKind, number[]]>([
		['success', [200, 201, 204, 299]],
		['redirected', [300, 301, 307, 308, 399]],
		['rejected', [100, 199, 400, 401, 403, 404, 422, 428, 430]],
		['unclear', [302, 303, 408, 409, 425, 499]],
		['rateLimited', [429]],
		['serverError', [500, 501, 505, 520, 599]],
		['unavailable', [502, 503, 504]],
	])('%s is what %j says', (kind, statuses) => {
		for (const status of statuses) expect(kindOfStatus(status)).toBe(kind);
	});

	test.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])(
		'%s comes before anything is sent',
		(code) => {
			expect(kindOfFault({ code })).toBe('notSent');
		},
	);

	test.each([
		[{ code: 'ETIMEDOUT', syscall: 'connect' }, 'notSent'],
		[{ code: 'ECONNRESET', syscall: 'getaddrinfo' }, 'notSent'],
		[{ code: 'ECONNABORTED', isUnsent: true }, 'notSent'],
		[{ isBlocked: true, isUnsent: true }, 'blocked'],
		[{ code: 'ETIMEDOUT' }, 'interrupted'],
		[{ code: 'ECONNABORTED' }, 'interrupted'],
		[{ code: 'ECONNRESET', syscall: 'read' }, 'interrupted'],
		[{ code: 'EPIPE', syscall: 'write' }, 'interrupted'],
		[{}, 'interrupted'],
	])('the fault %j is %s', (fault, kind) => {
		expect(kindOfFault(fault)).toBe(kind);
	});
});
