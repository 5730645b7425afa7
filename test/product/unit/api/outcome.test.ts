import {
	kindOfStatus,
	retryDecision,
	type OutcomeKind,
	type RetryDecision,
} from '../../../../nodes/DigitalSales/api/outcome';

describe('What is sent again', () => {
	test.each<[OutcomeKind, RetryDecision, RetryDecision]>([
		['success', 'fail', 'inDoubt'],
		['rejected', 'fail', 'fail'],
		['badToken', 'fail', 'fail'],
		['noPermission', 'fail', 'fail'],
		['notFound', 'fail', 'fail'],
		['unclear', 'fail', 'inDoubt'],
		['rateLimited', 'retry', 'retry'],
		['unavailable', 'retry', 'inDoubt'],
		['serverError', 'fail', 'inDoubt'],
		['redirected', 'fail', 'fail'],
		['seeOther', 'fail', 'inDoubt'],
		['unreadable', 'fail', 'inDoubt'],
		['webPage', 'fail', 'inDoubt'],
		['tooLarge', 'fail', 'inDoubt'],
		['notSent', 'retry', 'retry'],
		['blocked', 'fail', 'fail'],
		['interrupted', 'retry', 'inDoubt'],
	])('%s: a GET is %s, a POST is %s', (kind, get, post) => {
		expect([retryDecision('GET', kind), retryDecision('POST', kind)]).toEqual([get, post]);
	});

	test.each<[OutcomeKind, number[]]>([
		['success', [200, 201, 204, 299]],
		['redirected', [300, 301, 307, 308, 399]],
		['rejected', [100, 199, 400, 405, 422, 428, 430]],
		['badToken', [401]],
		['noPermission', [403]],
		['notFound', [404]],
		['seeOther', [302, 303]],
		['unclear', [408, 409, 425, 499]],
		['rateLimited', [429]],
		['serverError', [500, 501, 505, 520, 599, 999]],
		['unavailable', [502, 503, 504]],
	])('%s is what %j says', (kind, statuses) => {
		for (const status of statuses) expect(kindOfStatus(status)).toBe(kind);
	});
});
