import { runNode } from '../helpers/engine';
import { useAccount } from '../helpers/account';
import type { Fault } from '../sandbox';
import { chargeAt } from '../helpers/charge';
import { HOSTILE_ERRORS } from '../helpers/notices';
import { builtPackage, forgetEverything } from '../helpers/thorough/builtPackage';
import { operationAt } from '../helpers/thorough/operations';

/** `ok`, a `fail` that is certain, or an outcome that is `unknown`. */
type Outcome = 'ok' | 'fail' | 'unknown';

/** What a fault must lead to: the outcome, the requests, and the number of created things of a POST. */
interface Expected {
	outcome: Outcome;
	/** The number, or the least and the most. */
	requests: number | readonly [least: number, most: number];
	created?: number;
}

interface Row {
	fault: string;
	faults: Fault[];
	get: Expected;
	post: Expected;
}

const once = (outcome: Outcome, created = 0): Expected => ({ outcome, requests: 1, created });
const again = (requests = 2, created = 1): Expected => ({ outcome: 'ok', requests, created });
const FAILED = once('fail');
/** A POST that was processed or lost: its outcome is unknown. */
const [DONE_UNKNOWN, LOST_UNKNOWN] = [once('unknown', 1), once('unknown', 0)];
const AGAIN = again();
/** A 429 is waited out until the time is up: 300 s, in waits of 2.5 to 5, 5 to 10, 10 to 20 s. */
const UNTIL_TIME_IS_UP: Expected = { outcome: 'fail', requests: [16, 33] };
const UP_TO_FIVE: Expected = { outcome: 'fail', requests: 5 };

const row = (fault: string, faults: Fault | Fault[], get: Expected, post = get): Row => ({
	fault,
	faults: [faults].flat(),
	get,
	post,
});
const status = (status: number, more: object = {}): Fault => ({ kind: 'status', status, ...more });
const done = { processed: true };
const always = { times: 'always' } as const;
const no = { body: { message: 'No' } };

const ROWS: Row[] = [
	row('none', [], once('ok'), once('ok', 1)),
	row('429 with Retry-After', { kind: 'retryAfter' }, AGAIN),
	row('429 without', { kind: 'retryAfter', format: 'absent' }, AGAIN),
	row(
		'429 without, without end',
		{ kind: 'retryAfter', format: 'absent', ...always },
		UNTIL_TIME_IS_UP,
	),
	row('429 three times', { kind: 'retryAfter', times: 3 }, again(4)),
	row('429 without end, 61 s each', { kind: 'retryAfter', seconds: 61, ...always }, UP_TO_FIVE),
	row('429, body cut off', status(429, { headers: { 'Retry-After': '30' }, isCut: true }), AGAIN),
	...[502, 503, 504, 520, 524].flatMap((code) => [
		row(`${code}, not processed`, status(code), AGAIN, LOST_UNKNOWN),
		row(`${code}, processed`, status(code, done), AGAIN, DONE_UNKNOWN),
	]),
	row('503 without end', status(503, always), UP_TO_FIVE, LOST_UNKNOWN),
	row('500, not processed', status(500), FAILED, LOST_UNKNOWN),
	row('500, processed', status(500, done), FAILED, DONE_UNKNOWN),
	...[400, 401, 403, 404, 413, 422].map((code) => row(String(code), status(code, no), FAILED)),
	row(
		'409 that says it was refused',
		status(409, { body: { success: false, message: 'No' } }),
		FAILED,
	),
	row('409, processed', status(409, { ...done, ...no }), FAILED, DONE_UNKNOWN),
	...[408, 425, 499].map((code) =>
		row(`${code}, processed`, status(code, { ...done, ...no }), AGAIN, DONE_UNKNOWN),
	),
	row(
		'200, processed, 20,000 lists',
		status(200, { ...done, body: HOSTILE_ERRORS['20,000 lists'] }),
		FAILED,
		DONE_UNKNOWN,
	),
	row('reset before processing', { kind: 'resetBeforeProcessing' }, AGAIN, LOST_UNKNOWN),
	row('reset after processing', { kind: 'resetAfterProcessing' }, AGAIN, DONE_UNKNOWN),
	row('time-out, processed', { kind: 'delayAfterProcessing', ms: 130_000 }, AGAIN, DONE_UNKNOWN),
	row('body cut off', { kind: 'truncatedBody' }, AGAIN, DONE_UNKNOWN),
	row('body short', { kind: 'truncatedBody', mode: 'short' }, FAILED, DONE_UNKNOWN),
	row('body piece by piece, over the time', { kind: 'slowBody', ms: 400_000 }, AGAIN, DONE_UNKNOWN),
	row('body without end', { kind: 'endlessBody' }, FAILED, DONE_UNKNOWN),
	row('HTML under 200', { kind: 'html' }, FAILED, LOST_UNKNOWN),
	row('HTML under 404', { kind: 'html', status: 404 }, FAILED),
	row('no JSON', { kind: 'notJson' }, FAILED, DONE_UNKNOWN),
	row('no body', { kind: 'emptyBody' }, FAILED, DONE_UNKNOWN),
	row('success: false', { kind: 'successFalse' }, FAILED),
	...([301, 302, 303, 307, 308] as const).map((code) =>
		row(
			`redirect ${code}`,
			{ kind: 'redirect', status: code, to: 'http://127.0.0.1:9/elsewhere' },
			FAILED,
			code === 302 || code === 303 ? LOST_UNKNOWN : FAILED,
		),
	),
	row('wrapped in data', { kind: 'wrapData' }, once('ok'), once('ok', 1)),
	row(
		'429, then reset before processing',
		[{ kind: 'retryAfter' }, { kind: 'resetBeforeProcessing' }],
		again(3),
		{ outcome: 'unknown', requests: 2, created: 0 },
	),
];

const ENDPOINTS = [
	'GET /products',
	'GET /transactions/{hash}',
	'POST /products/{hash}/offers',
	'POST /transactions',
] as const;

describe('Faults', () => {
	const account = useAccount();

	beforeEach(forgetEverything);

	const cases = ROWS.flatMap((row) => ENDPOINTS.map((endpoint) => ({ ...row, endpoint })));

	test.each(cases)('$fault at $endpoint', async ({ faults, endpoint, get, post }) => {
		const { sandbox } = account;
		const operation = operationAt(endpoint, sandbox, await chargeAt(sandbox));
		const expected = operation.method === 'GET' ? get : post;
		const before = { requests: sandbox.requests.length, created: operation.created() };
		for (const one of faults) sandbox.addFault({ endpoint, ...one });

		const { node, status } = await runNode(operation.parameters, {
			credentials: account.credentials,
			process: builtPackage,
		});

		const isUnknown = /^The (customer|offer) may already/.test(node?.error?.message ?? '');
		const outcome = status === 'success' ? 'ok' : isUnknown ? 'unknown' : 'fail';
		const requests = sandbox.requests.length - before.requests;
		const created = operation.created() - before.created;
		expect({ outcome, created }).toEqual({
			outcome: expected.outcome,
			created: operation.method === 'GET' ? 0 : (expected.created ?? 0),
		});
		const [least = NaN, most = least] = [expected.requests].flat();
		expect(requests).toBeGreaterThanOrEqual(least);
		expect(requests).toBeLessThanOrEqual(most);
	});
});
