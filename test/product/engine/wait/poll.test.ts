import { type IExecuteFunctions } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { pingSelf, startPolling } from '../../../../nodes/DigitalSales/wait/poll';
import type { SuspendedWait } from '../../../../nodes/DigitalSales/wait/storedWait';
import { knownWait, waits } from '../../../../nodes/DigitalSales/wait/knownWait';
import { useTimeLapse } from '../../../support/timeLapse';
import { double, type NodeOutcome, runNode } from '../harness';
import { webServer } from '../harness/webServer';

const TYPE = 'test.double';
/** Of an execution that no other test has. */
const PATH = '/webhook-waiting/pinged/digital-sales';
/** Nothing listens here. */
const NOWHERE = `http://127.0.0.1:9${PATH}`;

interface Told {
	status: number;
	body?: string;
	headers?: Record<string, string>;
}

const SUSPENDED: Told = { status: 200, body: '{"received": true, "waiting": true}' };
/** What this package says if a check could not be done, by the reason. */
const undone = (reason: string): Told => ({
	status: 503,
	body: JSON.stringify({ received: false, reason }),
});
/** n8n answers a ping with which the execution goes on. */
const TAKEN: Told = { status: 200 };
const REPLACED: Told = { status: 410, body: '{"received":false,"reason":"this wait is over"}' };
/** What n8n says itself. */
const n8nSays = (status: number, message: string): Told => ({
	status,
	body: JSON.stringify({ code: status, message }),
});
const FINISHED = n8nSays(409, 'The execution "1" has finished already.');
const MISSING = n8nSays(404, 'The execution "1" does not exist.');
/** What a proxy says, or an n8n that has trouble: nothing about the execution. */
const ODD: Told[] = [
	{ status: 200, body: '<html>Under maintenance</html>' },
	{ status: 401, body: '<html>Log in</html>' },
	n8nSays(404, 'The requested webhook is not registered.'),
	{ status: 410, body: 'null' },
	n8nSays(500, 'The pool is destroyed'),
	{ status: 302, headers: { location: '/elsewhere' } },
];

describe('Pings of a suspended execution', () => {
	let url: string;
	let tells: Told[];
	let calls: Array<{ method?: string; type?: string; body: unknown }>;
	let calledAt: number[];

	useTimeLapse();
	beforeEach(async () => {
		url = `${await webServer.url()}${PATH}`;
		[tells, calls, calledAt] = [[], [], []];
		webServer.handle(PATH, async (request, response) => {
			await request.readRawBody();
			const body: unknown = JSON.parse(request.rawBody.toString());
			const told = tells[calls.length] ?? tells.at(-1) ?? { status: 500 };
			calls.push({ method: request.method, type: request.headers['content-type'], body });
			calledAt.push(clock.now());
			response.writeHead(told.status, told.headers).end(told.body ?? '');
		});
		jest.spyOn(clock, 'random').mockReturnValue(0.5);
	});
	afterEach(() => {
		waits.clear();
		jest.restoreAllMocks();
	});

	/** Runs a node with this code in n8n's engine. */
	const inANode = async (
		act: (context: IExecuteFunctions) => Promise<void>,
	): Promise<NodeOutcome> => {
		const node = double(async function (this: IExecuteFunctions) {
			await act(this);
			return [this.getInputData()];
		});
		const outcome = await runNode({}, { type: TYPE, nodeTypes: { [TYPE]: node } });
		expect(outcome.status).toBe('success');
		return outcome;
	};

	test.each<[Told, string]>([
		[SUSPENDED, 'waiting'],
		[undone('the transaction cannot be verified now'), 'unread'],
		[undone('this transaction is being checked'), 'unfinished'],
		[TAKEN, 'unread'],
		[{ status: 200, body: '{"received":true}' }, 'unread'],
		[REPLACED, 'gone'],
		[FINISHED, 'gone'],
		[n8nSays(409, 'The execution "1" is running already.'), 'gone'],
		[MISSING, 'gone'],
		[n8nSays(404, 'The workflow does not contain a waiting webhook with this path.'), 'gone'],
		[{ status: 307, headers: { location: '/form-waiting/1?signature=s' } }, 'gone'],
		[{ status: 307, headers: { location: '/maintenance' } }, 'unreachable'],
		...[{ status: 401, body: '{"error":"Invalid token"}' }, ...ODD].map((told): [Told, string] => [
			told,
			'unreachable',
		]),
	])('the answer %j says: %s', async (told, expected) => {
		tells = [told];
		let answer: string | undefined;

		await inANode(async ({ helpers }) => {
			answer = await pingSelf(helpers, url, 'wait-1');
		});

		expect(answer).toBe(expected);
		expect(calls).toEqual([
			{ method: 'POST', type: 'application/json', body: { pingedWait: 'wait-1' } },
		]);
	});

	/** A wait with so many seconds left, that n8n ends a minute later. */
	const waitFor = (limit: number, id = 'wait-1'): SuspendedWait => {
		const deadline = clock.now() + limit * 1_000;
		const endsAt = deadline + 60_000;
		return { id, deadline, endsAt, count: 1, payments: [] };
	};

	/** Polls until the polling ends; returns the seconds that it took and the logs. */
	const poll = async (
		address: string,
		limit: number,
	): Promise<{ seconds: number; logs: string[]; pings: number[] }> => {
		const startedAt = clock.now();
		const wait = waitFor(limit);
		const { logs } = await inANode(async (context) => {
			startPolling(context, wait, address);
			while (waits.list().length > 0) await clock.sleep(500);
		});
		return {
			seconds: (clock.now() - startedAt) / 1_000,
			pings: calledAt.map((at) => (at - startedAt) / 1_000),
			logs: logs.map(({ text }) => text).filter((text) => text.includes('Wait for Payment')),
		};
	};

	test.each<[string, Told[], number]>([
		['goes on at once', [TAKEN, FINISHED], 2],
		['has been replaced', [SUSPENDED, REPLACED], 2],
		['was suspended late', [MISSING, SUSPENDED, MISSING], 3],
		['was reached again', [SUSPENDED, ...ODD, SUSPENDED, FINISHED], ODD.length + 3],
		['was not reached at first', [...ODD.slice(0, 2), MISSING, SUSPENDED, FINISHED], 5],
	])('end with an execution that %s', async (_name, told, expected) => {
		tells = told;

		await poll(url, 7_200);

		expect(calls).toHaveLength(expected);
	});

	/** The seconds between one ping and the next. */
	const pausesOf = (pings: number[]): number[] =>
		pings.slice(1).map((at, nth) => Math.round(at - (pings[nth] ?? 0)));

	test('come again soon if one reached or read nothing, then after a minute', async () => {
		tells = [{ status: 502 }, undone('of any kind'), SUSPENDED, { status: 502 }, { status: 502 }];

		const { pings, logs } = await poll(url, 200);

		expect(pausesOf(pings).slice(0, 4)).toEqual([15, 30, 60, 15]);
		expect(logs).toHaveLength(1);
	});

	test('become rarer as the wait gets longer: a day costs about a hundred', async () => {
		tells = [SUSPENDED];

		const { pings } = await poll(url, 86_400);

		const before = pings.filter((at) => at < 86_400);
		expect(before.length).toBeGreaterThan(80);
		expect(before.length).toBeLessThan(120);
		const pauses = pausesOf(before);
		expect(pauses.slice(0, 19)).toEqual(Array(19).fill(60));
		expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
		expect(pauses.at(-1)).toBeLessThanOrEqual(3_600);
		const after3Hours = pausesOf(before.filter((at) => at > 3 * 3_600))[0];
		expect(after3Hours).toBeGreaterThan(500);
		expect(after3Hours).toBeLessThan(700);
	});

	test('become rarer while nothing can be read, and are spread out', async () => {
		tells = [...Array(8).fill(undone('of any kind')), SUSPENDED];
		jest.spyOn(clock, 'random').mockReturnValueOnce(0.5).mockReturnValue(1);

		const { pings } = await poll(url, 7_200);

		const pauses = pausesOf(pings);
		expect(pauses.slice(0, 8)).toEqual([15, 60, 120, 240, 480, 480, 480, 480]);
		expect(pauses[8]).toBeLessThan(300);
	});

	test('end after a minute if the execution is never suspended', async () => {
		tells = [MISSING];

		const { seconds } = await poll(url, 300);

		expect(seconds).toBeGreaterThan(60);
		expect(seconds).toBeLessThan(120);
		expect(calls.length).toBeGreaterThan(15);
	});

	test('are for the later wait if an execution waits twice', async () => {
		tells = [SUSPENDED, SUSPENDED, REPLACED, SUSPENDED];

		await inANode(async (context) => {
			startPolling(context, waitFor(300, 'wait-1'), url);
			startPolling(context, waitFor(300, 'wait-2'), url);
			while (calls.length < 5) await clock.sleep(500);
		});

		expect(calls.map(({ body }) => body)).toEqual(
			['wait-1', 'wait-2', 'wait-1', 'wait-2', 'wait-2'].map((pingedWait) => ({ pingedWait })),
		);
		expect(waits.list().map(([id]) => id)).toEqual(['wait-2']);
	});

	test('end when polling is stopped', async () => {
		tells = [SUSPENDED];

		await inANode(async (context) => {
			startPolling(context, waitFor(300), url);
			while (calls.length < 2) await clock.sleep(500);
			waits.clear();
			await clock.sleep(65_000);
		});

		expect(calls).toHaveLength(2);
	});

	test('go on for a while after the time limit, then leave it to n8n', async () => {
		tells = [SUSPENDED];

		const { seconds, logs } = await poll(url, 5);

		expect(seconds).toBeGreaterThan(20);
		expect(seconds).toBeLessThan(80);
		expect(logs).toEqual([]);
	});

	test('warn if something else answers for n8n, from the second time on', async () => {
		tells = [
			SUSPENDED,
			{ status: 403, body: '<html>' },
			SUSPENDED,
			{ status: 403 },
			{ status: 403 },
		];

		const { logs } = await poll(url, 10);

		expect(calls.length).toBeGreaterThan(5);
		expect(logs).toHaveLength(1);
	});

	test('warn once if n8n cannot reach its own address', async () => {
		const { seconds, logs } = await poll(NOWHERE, 5);

		expect(seconds).toBeGreaterThan(20);
		expect(logs).toHaveLength(1);
		expect(logs[0]).toMatch(/cannot reach this n8n at its own address.*WEBHOOK_URL/s);
		expect(logs[0]).toContain('127.0.0.1:9');
		expect(logs[0]).not.toContain('webhook-waiting');
	});

	test('are made for 10,000 executions at most', async () => {
		for (let nth = 0; nth < 9_999; nth++) {
			knownWait(waitFor(60, `other ${nth}`)).pingBy = () => undefined;
		}
		knownWait(waitFor(60, 'not pinged for'));
		const taken: boolean[] = [];

		for (const id of ['wait-1', 'wait-2']) {
			await inANode(async (context) => {
				startPolling(context, waitFor(60, id), url);
				taken.push(waits.get(id) !== undefined);
			});
		}

		expect(taken).toEqual([true, false]);
		expect(waits.size).toBe(10_000);
	});
});
