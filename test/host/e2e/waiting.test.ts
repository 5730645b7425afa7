import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { sendRequest } from '../../support/http';
import { Figures } from '../../support/figures';
import { bodiesLike, contentTypes } from '../../support/notices';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../n8n/n8n';
import { Waits } from './stage/waits';
import { Downstream } from './stage/workflows';

const figures = new Figures('Executions that wait for a payment, in a real n8n', 'npm run e2e');
const START_MS = 15 * 60_000;
const BODIES = 300;
const EACH_MS = Array.from({ length: 51 }, (_, offset) => offset);
/** n8n looks once a minute for what has to go on. */
const LIMITS = [5, 65];
const PAID = { paid: true, payment_status: 'paid', timedOut: false };

/** Each test goes on from those before it: what takes its time does so while others run. */
describe('Wait for Payment under races and loss', () => {
	let n8n: N8n;
	let downstream: Downstream;
	let waits: Waits;
	let limits: Promise<number[]>;
	let parkedAt = 0;
	let limited: string;

	beforeAll(async () => {
		// Nothing is re-sent: what gets lost is lost.
		const sandbox = { resendAfterSeconds: [] };
		n8n = await startN8n('e2e-waiting', { sandbox, env: WITHOUT_EDITOR });
		downstream = await Downstream.open();
		waits = await Waits.publish(n8n, downstream, {
			told: { notify: 'automatic' },
			'limit-5': { notify: 'none', limit: 5 },
			'limit-15': { notify: 'none', limit: 15 },
			'limit-65': { notify: 'none', limit: 65 },
		});
		limits = waits.late(LIMITS, downstream);
	}, START_MS);
	afterEach(() => n8n.sandbox.clearFaults());
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
		figures.show();
	});

	const reportsOn = (hash: string): unknown[] =>
		downstream.reports.filter((report) => report.hash === hash);

	test('a lost notice costs one re-check', async () => {
		const { charge } = await waits.park('told');
		n8n.sandbox.addFault({ kind: 'lostNotice' });
		const [report] = await n8n.sandbox.pay(charge.hash);

		const { json } = await downstream.reportOn(charge.hash);

		expect(report?.outcome).toBe('lost');
		expect(json).toMatchObject(PAID);
		figures.add('a lost notice', 1, 'paid, found by looking');
	});

	test('whatever is posted to its address, it is answered and stays parked', async () => {
		const { charge, executionId } = await waits.park('told');
		await fc.assert(
			fc.asyncProperty(bodiesLike(charge), contentTypes, async (body, type) => {
				const call = { body: Buffer.from(body), headers: { 'content-type': type } };
				const { status } = await sendRequest(charge.postback_url, call);
				expect([400, 404, 422, 503]).toContain(status);
			}),
			{ numRuns: BODIES },
		);
		const unsigned = charge.postback_url.replace(/\?.*/, '');
		expect((await sendRequest(unsigned, { body: '{}' })).status).toBe(401);
		const { summary } = await n8n.rest.execution(executionId);
		expect(summary.status).toBe('waiting');

		await n8n.sandbox.pay(charge.hash);

		expect((await downstream.reportOn(charge.hash)).json).toMatchObject(PAID);
		expect(reportsOn(charge.hash)).toHaveLength(1);
		expect(downstream.reports.every((report) => Object.keys(report).length > 0)).toBe(true);
		figures.add('random bodies to the resume address', BODIES, 'all answered, stayed parked');
	}, 180_000);

	test('once stopped it stays so, and looks no more', async () => {
		const { charge, executionId } = await waits.park('told');
		await n8n.rest.send('POST', `/executions/${executionId}/stop`);
		await pause(4_000);
		const reads = waits.readsOf(charge.hash);

		const [report] = await n8n.sandbox.pay(charge.hash);
		await pause(8_000);

		expect(report?.status).toBe(409);
		expect((await n8n.rest.execution(executionId)).summary.status).toBe('canceled');
		expect(waits.readsOf(charge.hash)).toBe(reads);
		expect(reportsOn(charge.hash)).toEqual([]);
		figures.add('stopped while waiting, then paid', 1, 'stays stopped, 0 items downstream');
	}, 60_000);

	test('the time limits end in time, with a fresh state', async () => {
		const late = await limits;

		expect(Math.min(...late)).toBeGreaterThan(-1);
		expect(Math.max(...late)).toBeLessThan(3);
		const seconds = late.map((one) => one.toFixed(1)).join(' and ');
		const outcome = `ended ${seconds} s after the limit, timedOut and a fresh state`;
		figures.add(`time limits of ${LIMITS.join(' and ')} s`, late.length, outcome);
	}, 150_000);

	test('a restart: the next notice is taken', async () => {
		const { charge } = await waits.park('told');
		limited = (await waits.park('limit-15')).charge.hash;
		parkedAt = Date.now();
		await n8n.restart();
		let [report] = await n8n.sandbox.pay(charge.hash);
		while (report?.status === 404) {
			await pause(250);
			report = await n8n.sandbox.notify(charge.hash);
		}

		const { json } = await downstream.reportOn(charge.hash);

		expect(json).toMatchObject(PAID);
		figures.add('a restart of n8n while it waits, then a notice', 1, 'the notice is taken');
	}, 120_000);

	test('one notice at every millisecond around the moment of parking', async () => {
		const { stuck, early } = await waits.payAfter(EACH_MS, downstream);

		expect(stuck).toEqual([]);
		expect(early).toBeGreaterThan(0);
		const what = 'one notice, never re-sent, 0 to 50 ms after the first look';
		const outcome = `0 stuck; ${early} came before the execution was parked and were turned away, all paid`;
		figures.add(what, EACH_MS.length, outcome);
	}, 900_000);

	test('after the restart n8n itself ends what has a limit', async () => {
		const { json, at } = await downstream.reportOn(limited, 150_000);

		const unpaid = { paid: false, payment_status: 'waiting_payment', timedOut: true };
		expect(json).toMatchObject(unpaid);
		const late = (at - parkedAt) / 1_000 - 15;
		expect(late).toBeLessThan(95);
		const outcome = `n8n ends it ${late.toFixed(0)} s after its limit of 15 s, timedOut`;
		figures.add('a restart of n8n while it waits, no notice', 1, outcome);
	}, 180_000);
});
