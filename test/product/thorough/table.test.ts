import { runNode } from '../engine/harness';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox';
import { Figures } from '../../support/figures';
import { HOSTILE_BODIES } from '../../support/notices';
import { useTimeLapse } from '../../support/timeLapse';
import { builtPackage, forgetEverything } from './builtPackage';
import { operationAt } from './operations';

/** `ok`, a `fail` that is certain, or an outcome that is `unknown`. */
type Outcome = 'ok' | 'fail' | 'unknown';

/** What has to come of a fault: outcome, requests sent, things created (by a POST). */
interface Expected {
	outcome: Outcome;
	/** How many, or how many at least and at most. */
	requests: number | readonly [least: number, most: number];
	created?: number;
}

interface Row {
	fault: string;
	faults: Fault[];
	get: Expected;
	post: Expected;
	/** Where listing products has another way out than the other reads. */
	listing?: Expected;
}

const once = (outcome: Outcome, created = 0): Expected => ({ outcome, requests: 1, created });
const again = (requests = 2, created = 1): Expected => ({ outcome: 'ok', requests, created });

/** Waits that nobody can go by: each of them made no wait at all of a 429. */
const USELESS_WAITS: Array<[string, Record<string, string>]> = [
	['Retry-After 0', { 'Retry-After': '0' }],
	['Retry-After -5', { 'Retry-After': '-5' }],
	['Retry-After in the past', { 'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT' }],
	['X-RateLimit-Reset 0', { 'X-RateLimit-Reset': '0' }],
	['X-RateLimit-Reset in the past', { 'X-RateLimit-Reset': '1445412480' }],
];

/** A 429 is waited out until the time is up: 300 s, in waits of 2.5 to 5, 5 to 10, 10 to 20 s. */
const UNTIL_TIME_IS_UP: Expected = { outcome: 'fail', requests: [16, 33] };

const ROWS: Row[] = [
	{ fault: 'none', faults: [], get: once('ok'), post: once('ok', 1) },
	...(['seconds', 'http-date', 'absent', 'huge', 'garbage'] as const).map((format) => ({
		fault: `429, Retry-After ${format}`,
		faults: [{ kind: 'retryAfter' as const, format }],
		get: again(),
		post: again(),
	})),
	...USELESS_WAITS.flatMap(([spelling, headers]) => [
		{
			fault: `429, ${spelling}`,
			faults: [{ kind: 'status' as const, status: 429, headers }],
			get: again(),
			post: again(),
		},
		{
			fault: `429 without end, ${spelling}`,
			faults: [{ kind: 'status' as const, status: 429, headers, times: 'always' as const }],
			get: UNTIL_TIME_IS_UP,
			post: { ...UNTIL_TIME_IS_UP, created: 0 },
		},
	]),
	{
		fault: '429 without end, Retry-After absent',
		faults: [{ kind: 'retryAfter', format: 'absent', times: 'always' }],
		get: UNTIL_TIME_IS_UP,
		post: { ...UNTIL_TIME_IS_UP, created: 0 },
	},
	{
		fault: '429 three times',
		faults: [{ kind: 'retryAfter', times: 3 }],
		get: again(4),
		post: again(4),
	},
	{
		fault: '429 without end, 61 s each',
		faults: [{ kind: 'retryAfter', seconds: 61, times: 'always' }],
		get: { outcome: 'fail', requests: 5 },
		post: { outcome: 'fail', requests: 5, created: 0 },
	},
	{
		fault: '429, body cut off',
		faults: [{ kind: 'status', status: 429, headers: { 'Retry-After': '30' }, isCut: true }],
		get: again(),
		post: again(),
	},
	...[502, 503, 504].flatMap((status) => [
		{
			fault: `${status}, not processed`,
			faults: [{ kind: 'status' as const, status }],
			get: again(),
			post: once('unknown', 0),
		},
		{
			fault: `${status}, processed`,
			faults: [{ kind: 'status' as const, status, processed: true }],
			get: again(),
			post: once('unknown', 1),
		},
	]),
	{
		fault: '503 without end',
		faults: [{ kind: 'status', status: 503, times: 'always' }],
		get: { outcome: 'fail', requests: 5 },
		post: once('unknown', 0),
	},
	{
		fault: '500, not processed',
		faults: [{ kind: 'status', status: 500 }],
		get: once('fail'),
		post: once('unknown', 0),
	},
	{
		fault: '500, processed',
		faults: [{ kind: 'status', status: 500, processed: true }],
		get: once('fail'),
		post: once('unknown', 1),
	},
	...[400, 401, 403, 404, 413, 422].map((status) => ({
		fault: String(status),
		// The page size may be what was refused: the list is asked for once more without one.
		...([400, 413, 422].includes(status) ? { listing: again() } : {}),
		faults: [{ kind: 'status' as const, status, body: { message: 'No' } }],
		get: once('fail'),
		post: once('fail', 0),
	})),
	{
		fault: '409 that says it was refused',
		faults: [{ kind: 'status' as const, status: 409, body: { success: false, message: 'No' } }],
		listing: again(),
		get: once('fail'),
		post: once('fail', 0),
	},
	...[408, 409, 425, 499].map((status) => ({
		fault: `${status}, processed`,
		faults: [{ kind: 'status' as const, status, processed: true, body: { message: 'No' } }],
		get: once('fail'),
		post: once('unknown', 1),
	})),
	...Object.entries(HOSTILE_BODIES).flatMap(([name, body]) => [
		{
			fault: `500, processed, ${name}`,
			faults: [{ kind: 'status' as const, status: 500, processed: true, body }],
			get: once('fail'),
			post: once('unknown', 1),
		},
		{
			fault: `422, ${name}`,
			faults: [{ kind: 'status' as const, status: 422, body }],
			listing: again(),
			get: once('fail'),
			post: once('fail', 0),
		},
	]),
	{
		fault: '200, processed, 20,000 lists',
		faults: [
			{
				kind: 'status',
				status: 200,
				processed: true,
				body: HOSTILE_BODIES['20,000 lists'],
			},
		],
		get: once('fail'),
		post: once('unknown', 1),
	},
	{
		fault: 'reset before processing',
		faults: [{ kind: 'resetBeforeProcessing' }],
		get: again(),
		post: once('unknown', 0),
	},
	{
		fault: 'reset after processing',
		faults: [{ kind: 'resetAfterProcessing' }],
		get: again(),
		post: once('unknown', 1),
	},
	{
		fault: 'time-out, processed',
		faults: [{ kind: 'delayAfterProcessing', ms: 130_000 }],
		get: again(),
		post: once('unknown', 1),
	},
	{
		fault: 'body cut off',
		faults: [{ kind: 'truncatedBody' }],
		get: again(),
		post: once('unknown', 1),
	},
	{
		fault: 'body short',
		faults: [{ kind: 'truncatedBody', mode: 'short' }],
		get: once('fail'),
		post: once('unknown', 1),
	},
	{
		fault: 'body piece by piece, over the time',
		faults: [{ kind: 'slowBody', ms: 400_000 }],
		get: again(),
		post: once('unknown', 1),
	},
	{
		fault: 'body without end',
		faults: [{ kind: 'endlessBody' }],
		get: once('fail'),
		post: once('unknown', 1),
	},
	{
		fault: 'HTML under 200',
		faults: [{ kind: 'html' }],
		get: once('fail'),
		post: once('unknown', 0),
	},
	{
		fault: 'HTML under 404',
		faults: [{ kind: 'html', status: 404 }],
		get: once('fail'),
		post: once('fail', 0),
	},
	{ fault: 'no JSON', faults: [{ kind: 'notJson' }], get: once('fail'), post: once('unknown', 1) },
	{
		fault: 'no body',
		faults: [{ kind: 'emptyBody' }],
		get: once('fail'),
		post: once('unknown', 1),
	},
	{
		fault: 'success: false',
		faults: [{ kind: 'successFalse' }],
		listing: again(),
		get: once('fail'),
		post: once('fail', 0),
	},
	{
		fault: 'errors by field',
		faults: [{ kind: 'errorsByField', errors: { price: ['is odd'] } }],
		get: once('ok'),
		post: once('fail', 0),
	},
	...([301, 307, 308] as const).map((status) => ({
		fault: `redirect ${status}`,
		faults: [{ kind: 'redirect' as const, status, to: 'http://127.0.0.1:9/elsewhere' }],
		get: once('fail'),
		post: once('fail', 0),
	})),
	...([302, 303] as const).map((status) => ({
		fault: `redirect ${status}`,
		faults: [{ kind: 'redirect' as const, status, to: 'http://127.0.0.1:9/elsewhere' }],
		get: once('fail'),
		post: once('unknown', 0),
	})),
	{
		fault: 'echo of the request, 500',
		faults: [{ kind: 'echoRequest' }],
		get: once('fail'),
		post: once('unknown', 0),
	},
	{
		fault: 'wrapped in data',
		faults: [{ kind: 'wrapData' }],
		get: once('ok'),
		post: once('ok', 1),
	},
	{
		fault: '429, then reset before processing',
		faults: [{ kind: 'retryAfter' }, { kind: 'resetBeforeProcessing' }],
		get: again(3),
		post: { outcome: 'unknown', requests: 2, created: 0 },
	},
];

const printed: string[] = [];

/** A row of the table as a person reads it. */
function line(
	fault: string,
	endpoint: string,
	outcome: string,
	requests: number,
	made: number,
): string {
	return `${fault.padEnd(52)}${endpoint.padEnd(32)}${outcome.padEnd(10)}${String(requests).padStart(8)}${String(made).padStart(9)}`;
}

const figures = new Figures(
	"Faults at each endpoint, in n8n's own engine",
	'npm run e2e -- thorough',
);
const seen: Array<{ endpoint: string; outcome: Outcome; requests: number; created: number }> = [];
const ENDPOINTS = [
	'GET /products',
	'GET /transactions/{hash}',
	'POST /products/{hash}/offers',
	'POST /transactions',
] as const;

describe('Faults', () => {
	let sandbox: Sandbox;
	let hash: string;

	const credentials = (): Record<
		string,
		{ baseUrl: string; apiToken: string; bodyApiToken: string }
	> => ({
		digitalSalesApi: {
			baseUrl: sandbox.baseUrl,
			apiToken: sandbox.apiToken,
			bodyApiToken: sandbox.bodyApiToken,
		},
	});

	beforeAll(async () => {
		sandbox = await startSandbox({ requestsPerMinute: null, qrImage: 'absent' });
	});
	useTimeLapse();
	beforeEach(async () => {
		sandbox.reset();
		forgetEverything();
		const { json } = await runNode(operationAt('POST /transactions', sandbox).parameters, {
			credentials: credentials(),
			process: builtPackage,
		});
		hash = String(json[0]?.hash);
	});
	afterAll(async () => {
		await sandbox.close();
		process.stdout.write(
			[
				'',
				`${'fault'.padEnd(52)}${'endpoint'.padEnd(32)}${'outcome'.padEnd(10)}${'requests'.padStart(8)}${'created'.padStart(9)}`,
				...printed,
				`${printed.length} rows`,
				'',
			].join('\n'),
		);
		for (const endpoint of ENDPOINTS) {
			const here = seen.filter((one) => one.endpoint === endpoint);
			const count = (wanted: Outcome): number =>
				here.filter(({ outcome }) => outcome === wanted).length;
			const most = (of: 'requests' | 'created'): number => Math.max(...here.map((one) => one[of]));
			figures.add(
				`each fault at ${endpoint}`,
				here.length,
				`${count('ok')} succeed, ${count('fail')} fail, ${count('unknown')} of unknown outcome; at most ${most('requests')} requests, ${most('created')} created`,
			);
		}
		figures.show();
	});

	const cases = ROWS.flatMap((row) => ENDPOINTS.map((endpoint) => ({ ...row, endpoint })));

	test.each(cases)(
		'$fault at $endpoint',
		async ({ fault, faults, endpoint, get, post, listing = get }) => {
			const operation = operationAt(endpoint, sandbox, hash);
			const read = endpoint === 'GET /products' ? listing : get;
			const expected = operation.method === 'GET' ? read : post;
			const before = { requests: sandbox.requests.length, created: operation.created() };
			for (const one of faults) sandbox.addFault({ endpoint, ...one });

			const run = await runNode(operation.parameters, {
				credentials: credentials(),
				process: builtPackage,
			});

			const message = run.node?.error?.message ?? '';
			const outcome: Outcome =
				run.status === 'success'
					? 'ok'
					: /^The (customer|offer) may already/.test(message)
						? 'unknown'
						: 'fail';
			const requests = sandbox.requests.length - before.requests;
			const created = operation.created() - before.created;
			printed.push(line(fault, endpoint, outcome, requests, created));
			seen.push({ endpoint, outcome, requests, created });
			expect({ outcome, created }).toEqual({
				outcome: expected.outcome,
				created: operation.method === 'GET' ? 0 : (expected.created ?? 0),
			});
			const [least, most] = [expected.requests].flat();
			expect(requests).toBeGreaterThanOrEqual(least ?? NaN);
			expect(requests).toBeLessThanOrEqual(most ?? least ?? NaN);
		},
	);
});
