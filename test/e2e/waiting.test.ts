import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { chargeAt } from '../helpers/charge';
import { postJson, sendRequest } from '../helpers/http';
import { bodiesLike, contentTypes } from '../helpers/notices';
import { until } from '../helpers/until';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { type Parked, Waits } from '../helpers/e2e/waits';
import { Downstream, publish, split, waitForPayment, webStart } from '../helpers/e2e/workflows';

const START_MS = 15 * 60_000;
const BODIES = 100;
const EACH_MS = [0, 5, 10, 15, 20, 30, 40, 60, 80, 120, 180, 250];
const PAIRS = 5;
const LIMIT_MINUTES = 0.5;
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
	let limited: Parked;
	let stopped: Parked & { at: number };
	let known: string;
	let atParking: string[];

	beforeAll(async () => {
		// Nothing is re-sent: what gets lost is lost.
		const sandbox = { resendAfterSeconds: [] };
		n8n = await startN8n('e2e-waiting', { sandbox, env: WITHOUT_EDITOR });
		downstream = await Downstream.open();
		waits = await Waits.publish(n8n, downstream, {
			told: { webhooksGoTo: 'automatic' },
			silent: { webhooksGoTo: 'none' },
			limited: { webhooksGoTo: 'none', limit: LIMIT_MINUTES },
		});
		stopped = { ...(await waits.park('told')), at: Date.now() };
		await n8n.rest.send('POST', `/executions/${stopped.executionId}/stop`);
		byTimer = await waits.park('silent');
		await waits.payUnheard(byTimer.charge.hash);
		limited = await waits.park('limited');
		await n8n.sandbox.setStatus(limited.charge.hash, 'analyzing');
		known = await waitBesideUnknown();
		atParking = await waits.payAfter(EACH_MS);
	}, START_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
	});

	/** Starts an execution that waits for a payment and for a hash that the platform does not know. */
	const waitBesideUnknown = async (): Promise<string> => {
		const hash = await chargeAt(n8n.sandbox);
		const wait = waitForPayment({ timeLimit: LIMIT_MINUTES, timeLimitUnit: 'minutes' });
		const tolerant = { ...wait, onError: 'continueRegularOutput' as const };
		await publish(n8n, 'unknown', [
			webStart('unknown'),
			split('Each', 'hashes'),
			tolerant,
			downstream.node,
		]);
		await postJson(`${n8n.url}/webhook/unknown`, { hashes: [{ hash }, { hash: 'unknown1' }] });
		await until('both are read', () => waits.readsOf('unknown1') > 0 && waits.readsOf(hash) > 0);
		await waits.payUnheard(hash);
		return hash;
	};
	const notify = async ({ charge }: Parked, status: string): Promise<number> =>
		(await postJson(charge.postback_url, { hash: charge.hash, payment_status: status })).status;
	const reportsOn = (hash: string): unknown[] =>
		downstream.reports.filter((report) => report.hash === hash);

	test('a webhook does not end the wait while the payment is open, and ends it once it is paid', async () => {
		const parked = await waits.park('told');
		const { charge, executionId } = parked;

		const nothingNew = await notify(parked, 'waiting_payment');
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

	test('any body posted to its address is answered, and the wait goes on', async () => {
		const parked = await waits.park('told');
		const { charge, executionId } = parked;
		await fc.assert(
			fc.asyncProperty(bodiesLike(charge), contentTypes, async (body, type) => {
				const call = { body: Buffer.from(body), headers: { 'content-type': type } };
				const { status } = await sendRequest(charge.postback_url, call);
				expect([200, 400, 409, 422]).toContain(status);
			}),
			{ numRuns: BODIES },
		);
		const unsigned = charge.postback_url.replace(/\?.*/, '');
		expect((await sendRequest(unsigned, { body: '{}' })).status).toBe(401);
		await waits.parkedAgain(executionId);
		expect(reportsOn(charge.hash)).toEqual([]);

		await n8n.sandbox.pay(charge.hash);

		expect((await downstream.reportOn(charge.hash)).json).toMatchObject(PAID);
		expect(reportsOn(charge.hash)).toHaveLength(1);
	}, 180_000);

	test("without a webhook, a look by n8n's timer ends the wait", async () => {
		const { json } = await downstream.reportOn(byTimer.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject(PAID);
		expect(waits.readsOf(byTimer.charge.hash)).toBe(2);
	}, 180_000);

	test('at the time limit the wait ends with the status that is read then', async () => {
		const { json } = await downstream.reportOn(limited.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject({ paid: false, payment_status: 'analyzing', timed_out: true });
	}, 180_000);

	test('a hash that the platform does not know fails alone, and the other items continue', async () => {
		const { json } = await downstream.reportOn(known, BY_TIMER_MS);

		expect(json).toMatchObject(PAID);
		const errors = await until('a report on the other', () => {
			const failed = downstream.reports.filter(({ error }) => error !== undefined);
			return failed.length > 0 && failed;
		});
		expect(errors).toEqual([{ error: expect.objectContaining({ status: 404 }) }]);
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
