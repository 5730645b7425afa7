import { setTimeout as pause } from 'node:timers/promises';
import { Waits } from '../e2e/stage/waits';
import type { Downstream } from '../e2e/stage/workflows';
import { postJson } from '../../support/http';
import { Figures } from '../../support/figures';
import { tally } from '../../support/chance';
import { type Cluster, useCluster } from './stage/cluster';

const figures = new Figures('Queue mode: Wait for Payment', 'npm run e2e -- queue');
const ROUNDS_AT_BOTH = 20;
const EACH_MS = Array.from({ length: 51 }, (_, offset) => offset);
/** By then the worker that suspended an execution has checked again. */
const FIRST_LOOK_OVER_MS = 5_000;
const LIMITS = [5, 40];
const PAID = { payment_status: 'paid', timedOut: false };

describe('Wait for Payment, over several processes', () => {
	// Nothing is re-sent: what gets lost is lost.
	const sandbox = { resendAfterSeconds: [] };
	const stage = useCluster({ name: 'queue-waiting', webhooks: 2, sandbox });
	let cluster: Cluster;
	let downstream: Downstream;
	let waits: Waits;

	beforeAll(async () => {
		({ cluster, downstream } = stage);
		waits = await Waits.publish(cluster, downstream, {
			told: { notify: 'automatic' },
			'limit-5': { notify: 'none', limit: 5 },
			'limit-40': { notify: 'none', limit: 40 },
			'limit-60': { notify: 'automatic', limit: 60 },
		});
	});
	afterAll(() => figures.show());

	const notify = async (url: string, hash: string): Promise<number> =>
		(await postJson(url, { hash, payment_status: 'paid' })).status;
	/** Pays without a notice, so that only those of the test are heard. */
	const payUnheard = async (hash: string): Promise<void> => {
		cluster.sandbox.addFault({ kind: 'lostNotice' });
		await cluster.sandbox.setStatus(hash, 'paid');
		cluster.sandbox.clearFaults();
	};
	const reportsOn = (hash: string): number =>
		downstream.reports.filter((report) => report.hash === hash).length;

	test('a webhook process is told and wakes it, a worker goes on; the main process does not', async () => {
		const { charge, executionId } = await waits.park('told');
		const atMain = charge.postback_url.replace(cluster.url, cluster.main.url);

		await pause(FIRST_LOOK_OVER_MS);
		await payUnheard(charge.hash);
		const misrouted = await notify(atMain, charge.hash);
		const before = (await cluster.rest.execution(executionId)).summary.status;
		const answered = await notify(charge.postback_url, charge.hash);
		const { json } = await downstream.reportOn(charge.hash);

		expect(charge.postback_url).toMatch(`${cluster.url}/webhook-waiting/`);
		expect([misrouted, before]).toEqual([404, 'waiting']);
		expect(answered).toBe(200);
		expect(json).toMatchObject(PAID);
		expect(await cluster.workerOf(executionId)).toMatch(/^worker-/);
	});

	test('the same notice to both webhook processes at the same moment', async () => {
		const answers: number[] = [];
		for (let round = 0; round < ROUNDS_AT_BOTH; round++) {
			const { charge } = await waits.park('told');
			await payUnheard(charge.hash);
			const urls = cluster.atEach(charge.postback_url);
			answers.push(...(await Promise.all(urls.map(async (url) => await notify(url, charge.hash)))));
			await downstream.reportOn(charge.hash);
			await pause(1_000);
			expect(reportsOn(charge.hash)).toBe(1);
		}

		figures.add(
			'the same notice to both webhook processes at the same moment',
			ROUNDS_AT_BOTH,
			`each execution went on once; answered ${tally(answers.map((status) => `× ${status}`))}`,
		);
	}, 300_000);

	test('one notice at every millisecond around the moment of parking', async () => {
		const { stuck, early } = await waits.payAfter(EACH_MS, downstream);

		expect(stuck).toEqual([]);
		figures.add(
			'one notice, never re-sent, 0 to 50 ms after the first look',
			EACH_MS.length,
			`0 stuck; ${early} came before the execution was parked and were turned away, all paid`,
		);
	}, 600_000);

	test('the time limits end in time, with a fresh state', async () => {
		const late = await waits.late(LIMITS, downstream);

		expect(Math.min(...late)).toBeGreaterThan(-1);
		expect(Math.max(...late)).toBeLessThan(3);
		figures.add(
			`time limits of ${LIMITS.join(' and ')} s`,
			LIMITS.length,
			`ended ${late.map((seconds) => seconds.toFixed(1)).join(' and ')} s after the limit, timedOut and a fresh state`,
		);
	});

	test('the workers are restarted meanwhile: a notice is taken, and brings the re-checks back', async () => {
		const told = await waits.park('told');
		const first = await waits.park('limit-60');
		const limited = await waits.park('limit-60');
		const startedAt = Date.now();
		for (const worker of cluster.workers) await worker.stop();
		for (const worker of cluster.workers) await worker.start();
		const unwatched = waits.readsOf(first.charge.hash);
		await pause(5_000);
		const readsWhileUnwatched = waits.readsOf(first.charge.hash) - unwatched;

		const [taken] = await cluster.sandbox.pay(told.charge.hash);
		const woken = await downstream.reportOn(told.charge.hash);
		const early = await notify(first.charge.postback_url, first.charge.hash);
		await payUnheard(first.charge.hash);
		const found = await downstream.reportOn(first.charge.hash, 90_000);
		const ended = await downstream.reportOn(limited.charge.hash, 180_000);

		expect(taken?.status).toBe(200);
		expect(woken.json).toMatchObject(PAID);
		expect(readsWhileUnwatched).toBe(0);
		// It tells of a payment that the service does not know of yet.
		expect(early).toBe(503);
		expect(found.json).toMatchObject(PAID);
		expect(ended.json).toMatchObject({ payment_status: 'waiting_payment', timedOut: true });
		const late = (ended.at - startedAt) / 1_000 - 60;
		figures.add(
			'the same without a notice, limit 60 s',
			1,
			`n8n ends it ${late.toFixed(0)} s after the limit, timedOut`,
		);
	}, 360_000);
});
