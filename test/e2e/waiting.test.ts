import { setTimeout as pause } from 'node:timers/promises';
import { postJson, sendRequest } from '../helpers/http';
import { until } from '../helpers/until';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { type Parked, Waits } from '../helpers/e2e/waits';
import { Downstream } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
const EACH_MS = [0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 180, 250];
const PAIRS = 5;
/** By then the first look after the one that parked an execution is over. */
const SECOND_LOOK_OVER_MS = 75_000;
/** Enough time for a look that n8n's timer starts. */
const BY_TIMER_MS = 100_000;
const PAID = { paid: true, payment_status: 'paid' };

/** Slow steps begin before all tests and continue during the tests. */
describe('Wait for Payment under races and loss', () => {
	let n8n: N8n;
	let downstream: Downstream;
	let waits: Waits;
	let byTimer: Parked;
	let stopped: Parked & { at: number };
	let atParking: string[];

	beforeAll(async () => {
		// Nothing is re-sent: what gets lost is lost.
		const sandbox = { resendAfterSeconds: [] };
		n8n = await startN8n('e2e-waiting', { sandbox, env: WITHOUT_EDITOR });
		downstream = await Downstream.open();
		waits = await Waits.publish(n8n, downstream, {
			told: { webhooksGoTo: 'automatic' },
			silent: { webhooksGoTo: 'none' },
		});
		stopped = { ...(await waits.park('told')), at: Date.now() };
		await n8n.rest.send('POST', `/executions/${stopped.executionId}/stop`);
		byTimer = await waits.park('silent');
		await waits.payUnheard(byTimer.charge.hash);
		atParking = await waits.payAfter(EACH_MS);
	}, START_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
	});

	const notify = async ({ charge }: Parked, status: string): Promise<number> =>
		(await postJson(charge.postback_url, { hash: charge.hash, payment_status: status })).status;
	const reportsOn = (hash: string): unknown[] =>
		downstream.reports.filter((report) => report.hash === hash);

	test('a webhook does not end the wait while the payment is open, and ends it once it is paid', async () => {
		const parked = await waits.park('told');
		const { charge, executionId } = parked;

		const nothingNew = await notify(parked, 'waiting_payment');
		const unsigned = charge.postback_url.replace(/\?.*/, '');
		expect((await sendRequest(unsigned, { body: '{}' })).status).toBe(401);
		const readsBefore = waits.readsOf(charge.hash);
		const ahead = await notify(parked, 'paid');
		await until('it looks', () => waits.readsOf(charge.hash) > 1, { withinMs: 90_000 });
		await waits.parkedAgain(executionId);
		const [report] = await n8n.sandbox.pay(charge.hash);
		const { json } = await downstream.reportOn(charge.hash);

		expect([nothingNew, ahead, report?.status]).toEqual([200, 200, 200]);
		expect(readsBefore).toBe(1);
		expect(waits.readsOf(charge.hash)).toBe(3);
		expect(json).toMatchObject(PAID);
	});

	test('two webhooks at the same moment end the wait once', async () => {
		const answers: number[] = [];
		for (let pair = 0; pair < PAIRS; pair++) {
			const parked = await waits.park('told');
			await waits.payUnheard(parked.charge.hash);
			const pairOfAnswers = await Promise.all([notify(parked, 'paid'), notify(parked, 'paid')]);
			answers.push(...pairOfAnswers);
			await downstream.reportOn(parked.charge.hash);
			await n8n.rest.ended(parked.executionId);

			expect(pairOfAnswers).toContain(200);
			expect(reportsOn(parked.charge.hash)).toHaveLength(1);
		}
		// n8n answers 500 to a webhook that finds the execution claimed, and 409 to one that finds it running.
		expect(answers.filter((status) => ![200, 409, 500].includes(status))).toEqual([]);
	});

	test("without a webhook, a look by n8n's timer ends the wait", async () => {
		const { json } = await downstream.reportOn(byTimer.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject(PAID);
		expect(waits.readsOf(byTimer.charge.hash)).toBe(2);
	}, 180_000);

	test('one webhook, whenever it comes around the moment of parking, ends the wait once', async () => {
		for (const hash of atParking) {
			expect((await downstream.reportOn(hash, BY_TIMER_MS)).json).toMatchObject(PAID);
			expect(reportsOn(hash)).toHaveLength(1);
		}
	}, 180_000);

	test('an execution that a person stopped stays stopped, and reads nothing more', async () => {
		const { charge, executionId, at } = stopped;
		await pause(Math.max(0, at + SECOND_LOOK_OVER_MS - Date.now()));

		const [report] = await n8n.sandbox.pay(charge.hash);

		expect(report?.status).toBe(409);
		expect(await n8n.rest.status(executionId)).toBe('canceled');
		expect(waits.readsOf(charge.hash)).toBe(1);
		expect(reportsOn(charge.hash)).toEqual([]);
	}, 120_000);

	test('a payment while n8n is down, without a webhook, ends the wait soon after the start', async () => {
		const { charge } = await waits.park('told');
		const parkedAt = Date.now();
		await n8n.main.stop();
		const [report] = await n8n.sandbox.pay(charge.hash);
		await pause(Math.max(0, parkedAt + SECOND_LOOK_OVER_MS - Date.now()));
		await n8n.startAgain();

		const { json } = await downstream.reportOn(charge.hash);

		expect(report?.outcome).toBe('failed');
		expect(json).toMatchObject(PAID);
	}, 300_000);
});
