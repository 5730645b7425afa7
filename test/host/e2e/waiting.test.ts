import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { sendRequest } from '../../support/http';
import type { StoredTransaction } from '../../sandbox/types';
import { Figures } from '../../support/figures';
import { bodiesLike, contentTypes } from '../../support/notices';
import {
	cartOf,
	chainOf,
	createPix,
	Downstream,
	type Report,
	waitForPayment,
	webStart,
} from './stage/workflows';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../n8n/n8n';

const figures = new Figures('Executions that wait for a payment, in a real n8n', 'npm run e2e');
const START_MS = 15 * 60_000;
const POLL_MS = 5;
const BEGUN_WITHIN_MS = 60_000;
const CUSTOMER = '={{ $json.body.customer }}';

const LAST_OFFSET_MS = 50;
const ROUNDS = 2;
const AT_ONCE = 4;

/** Workflows that charge, wait and report, by the way in which they wait. */
const WAYS = {
	told: { notify: 'automatic', wait: {} },
	looks: { notify: 'none', wait: {} },
	both: { notify: 'automatic', wait: {} },
	'limit-5': { notify: 'none', wait: seconds(5) },
	'limit-20': { notify: 'none', wait: seconds(20) },
	// n8n looks once a minute for what has to go on.
	'limit-65': { notify: 'none', wait: seconds(65) },
	'limit-15': { notify: 'none', wait: seconds(15) },
} as const;
type Way = keyof typeof WAYS;

function seconds(timeLimit: number): object {
	return { timeLimit, timeLimitUnit: 'seconds' };
}

/** Each test goes on from those before it: what takes its time does so while others run. */
describe('Wait for Payment under races and loss', () => {
	let n8n: N8n;
	let downstream: Downstream;
	const workflowIds = new Map<Way, string>();
	let customers = 0;
	let limits: Array<Promise<{ limit: number; json: Report; late: number }>> = [];
	let parkedAt = 0;
	let limited: string;

	beforeAll(async () => {
		// Nothing is re-sent: what gets lost is lost.
		n8n = await startN8n('e2e-waiting', {
			sandbox: { resendAfterSeconds: [] },
			env: WITHOUT_EDITOR,
		});
		downstream = await Downstream.open();
		for (const [way, { notify, wait }] of Object.entries(WAYS)) {
			const workflow = chainOf(way, n8n.credential, [
				webStart(way),
				createPix({
					notify,
					customerName: CUSTOMER,
					cart: cartOf(n8n.sandbox),
				}),
				waitForPayment({ ...wait }),
				downstream.node,
			]);
			const saved = await n8n.rest.createWorkflow(workflow);
			await n8n.rest.publish(saved);
			workflowIds.set(way as Way, saved.id);
		}
		limits = ([5, 20, 65] as const).map(untilLimit);
	}, START_MS);
	afterEach(() => n8n.sandbox.clearFaults());
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
		figures.show();
	});

	const readsOf = (hash: string): number =>
		n8n.sandbox.requests.filter(({ method, path }) => method === 'GET' && path.endsWith(`/${hash}`))
			.length;

	const failuresOf = async (way: Way): Promise<string> => {
		const executions = await n8n.rest.executions(workflowIds.get(way) ?? '');
		const failed = executions.filter(({ status }) => status === 'error');
		const texts = failed.map(async ({ id }) => (await n8n.rest.execution(id)).complaint);
		return (await Promise.all(texts)).join('; ') || 'no execution has failed';
	};

	/** Starts an execution, and returns its charge as soon as the execution reads it. */
	const begin = async (way: Way): Promise<StoredTransaction> => {
		const customer = `Customer ${(customers += 1)}`;
		await sendRequest(`${n8n.url}/webhook/${way}`, {
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ customer }),
		});
		const deadline = Date.now() + BEGUN_WITHIN_MS;
		while (Date.now() < deadline) {
			const made = n8n.sandbox.transactions.find((one) => one.customer.name === customer);
			if (made && readsOf(made.hash) > 0) return made;
			await pause(POLL_MS);
		}
		throw new Error(`${customer} was not charged: ${await failuresOf(way)}`);
	};

	/** Lets an execution run into its limit, in seconds. */
	const untilLimit = async (
		limit: 5 | 20 | 65,
	): Promise<{ limit: number; json: Report; late: number }> => {
		const { hash } = await begin(`limit-${limit}`);
		const startedAt = Date.now();
		await n8n.sandbox.setStatus(hash, 'analyzing');
		const { json, at } = await downstream.reportOn(hash, 150_000);
		return { limit, json, late: (at - startedAt) / 1_000 - limit };
	};

	/** Starts an execution, and gives its charge and its id when it is parked. */
	const park = async (way: Way): Promise<{ charge: StoredTransaction; executionId: string }> => {
		const charge = await begin(way);
		for (;;) {
			const executions = await n8n.rest.executions(workflowIds.get(way) ?? '');
			const waiting = executions.filter(({ status }) => status === 'waiting');
			for (const { id } of waiting) {
				const [item] = (await n8n.rest.execution(id)).items('Charge');
				if (item?.json.hash === charge.hash) return { charge, executionId: id };
			}
			await pause(100);
		}
	};

	test('without a public address it finds out by looking alone', async () => {
		const { charge } = await park('looks');
		await n8n.sandbox.pay(charge.hash);

		const { json } = await downstream.reportOn(charge.hash);

		expect(charge.postback_url).toBe('');
		expect(json).toMatchObject({ paid: true, payment_status: 'paid', timedOut: false });
		figures.add('no notification address', 1, 'paid, found by looking');
	});

	test('a lost notice costs one re-check', async () => {
		const { charge } = await park('both');
		n8n.sandbox.addFault({ kind: 'lostNotice' });
		const [report] = await n8n.sandbox.pay(charge.hash);

		const { json } = await downstream.reportOn(charge.hash);

		expect(report?.outcome).toBe('lost');
		expect(json).toMatchObject({ paid: true, payment_status: 'paid', timedOut: false });
		figures.add('a lost notice', 1, 'paid, found by looking');
	});

	test('whatever is posted to its address, it is answered and stays parked', async () => {
		const { charge, executionId } = await park('told');
		const statuses: number[] = [];
		await fc.assert(
			fc.asyncProperty(bodiesLike(charge), contentTypes, async (body, type) => {
				const headers = { 'content-type': type };
				const call = { body: Buffer.from(body), headers };
				const { status } = await sendRequest(charge.postback_url, call);
				statuses.push(status);
				expect([400, 404, 422, 503]).toContain(status);
			}),
			{ numRuns: 300 },
		);
		const unsigned = charge.postback_url.replace(/\?.*/, '');
		expect((await sendRequest(unsigned, { body: '{}' })).status).toBe(401);
		const { summary } = await n8n.rest.execution(executionId);
		expect(summary.status).toBe('waiting');

		await n8n.sandbox.pay(charge.hash);

		expect((await downstream.reportOn(charge.hash)).json).toMatchObject({ timedOut: false });
		const own = downstream.reports.filter(({ hash }) => hash === charge.hash);
		expect(own).toHaveLength(1);
		expect(downstream.reports.every((report) => Object.keys(report).length > 0)).toBe(true);
		figures.add(
			'random bodies to the resume address',
			statuses.length,
			'all answered, stayed parked',
		);
	}, 180_000);

	test('once stopped it stays so, and looks no more', async () => {
		const { charge, executionId } = await park('both');
		await n8n.rest.stop(executionId);
		await pause(4_000);
		const reads = readsOf(charge.hash);

		const [report] = await n8n.sandbox.pay(charge.hash);
		await pause(8_000);

		expect(report?.status).toBe(409);
		expect((await n8n.rest.execution(executionId)).summary.status).toBe('canceled');
		expect(readsOf(charge.hash)).toBe(reads);
		expect(downstream.reports.some(({ hash }) => hash === charge.hash)).toBe(false);
		figures.add('stopped while waiting, then paid', 1, 'stays stopped, 0 items downstream');
	}, 60_000);

	test('the time limits end in time, with a fresh state', async () => {
		const runs = await Promise.all(limits);

		for (const { json, late } of runs) {
			expect(json).toMatchObject({ paid: false, payment_status: 'analyzing', timedOut: true });
			expect(late).toBeGreaterThan(-1);
			expect(late).toBeLessThan(3);
		}
		figures.add(
			`time limits of ${runs.map(({ limit }) => limit).join(', ')} s`,
			runs.length,
			`ended ${runs.map(({ late }) => late.toFixed(1)).join(', ')} s after the limit, timedOut and a fresh state`,
		);
	}, 150_000);

	test('stays parked while the service cannot be asked', async () => {
		const { charge } = await park('both');
		n8n.sandbox.addFault({ kind: 'status', status: 500, times: 'always' });
		const [report] = await n8n.sandbox.pay(charge.hash);
		await pause(4_000);
		expect(downstream.reports.some(({ hash }) => hash === charge.hash)).toBe(false);
		n8n.sandbox.clearFaults();

		const { json } = await downstream.reportOn(charge.hash);

		expect(report?.status).toBe(503);
		expect(json).toMatchObject({ paid: true, payment_status: 'paid', timedOut: false });
		figures.add('the service down at the notice, then up', 1, 'notice answered 503, then paid');
	});

	test('a restart: the next notice is taken', async () => {
		const told = await park('told');
		limited = (await park('limit-15')).charge.hash;
		parkedAt = Date.now();
		await n8n.restart();
		let [report] = await n8n.sandbox.pay(told.charge.hash);
		while (report?.status === 404) {
			await pause(250);
			report = await n8n.sandbox.notify(told.charge.hash);
		}

		const { json } = await downstream.reportOn(told.charge.hash);

		expect(json).toMatchObject({ paid: true, payment_status: 'paid', timedOut: false });
		figures.add('a restart of n8n while it waits, then a notice', 1, 'the notice is taken');
	}, 120_000);

	test('one notice at every millisecond around the moment of parking', async () => {
		const offsets = Array.from({ length: ROUNDS }, () =>
			Array.from({ length: LAST_OFFSET_MS + 1 }, (_, offset) => offset),
		).flat();
		const answers: Array<number | null | undefined> = [];
		const stuck: string[] = [];
		const charged = new Set<unknown>();
		let next = 0;
		const worker = async (): Promise<void> => {
			while (next < offsets.length) {
				const offset = offsets[next++] ?? 0;
				const { hash } = await begin('told');
				charged.add(hash);
				await pause(offset);
				const [report] = await n8n.sandbox.pay(hash);
				answers.push(report?.status);
				const ended = await downstream.reportOn(hash, 30_000).catch(() => undefined);
				if (ended?.json.payment_status !== 'paid' || ended.json.timedOut !== false)
					stuck.push(hash);
			}
		};
		await Promise.all(Array.from({ length: AT_ONCE }, worker));

		const early = answers.filter((status) => status !== 200).length;
		expect(stuck).toEqual([]);
		expect(answers).toHaveLength(ROUNDS * (LAST_OFFSET_MS + 1));
		expect(downstream.reports.filter(({ hash }) => charged.has(hash))).toHaveLength(answers.length);
		figures.add(
			'one notice, never re-sent, 0 to 50 ms after the first look',
			answers.length,
			`0 stuck; ${early} came before the execution was parked and were turned away, all paid`,
		);
	}, 900_000);

	test('after the restart n8n itself ends what has a limit', async () => {
		const { json, at } = await downstream.reportOn(limited, 150_000);

		expect(json).toMatchObject({
			paid: false,
			payment_status: 'waiting_payment',
			timedOut: true,
		});
		const late = (at - parkedAt) / 1_000 - 15;
		expect(late).toBeLessThan(95);
		figures.add(
			'a restart of n8n while it waits, no notice',
			1,
			`n8n ends it ${late.toFixed(0)} s after its limit of 15 s, timedOut`,
		);
	}, 180_000);
});
