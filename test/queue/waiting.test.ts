import { type Parked, Waits } from '../helpers/e2e/waits';
import { chargesAt } from '../helpers/charge';
import { addressOf, type Downstream, publish, trigger } from '../helpers/e2e/workflows';
import { postJson } from '../helpers/http';
import { until } from '../helpers/until';
import { type Cluster, useCluster } from '../helpers/queue/cluster';

const ROUNDS_AT_BOTH = 10;
const LIMIT_MINUTES = 0.5;
const BEGIN_MS = 5 * 60_000;
/** Enough time for a look that n8n's timer starts. */
const BY_TIMER_MS = 150_000;
const PAID = { payment_status: 'paid' };

/** Slow steps begin before all tests and continue during the tests. */
describe('Wait for Payment, over several processes', () => {
	// Nothing is re-sent: what gets lost is lost.
	const sandbox = { resendAfterSeconds: [] };
	const stage = useCluster({ name: 'queue-waiting', webhooks: 2, sandbox });
	let cluster: Cluster;
	let downstream: Downstream;
	let waits: Waits;
	let byTimer: Parked;
	let limited: Parked;
	let orphaned: Parked;
	/** Of the workflow with the trigger, whose webhooks have said that they are paid. */
	let claimed: { hashes: string[]; id: string };

	beforeAll(async () => {
		({ cluster, downstream } = stage);
		waits = await Waits.publish(cluster, downstream, {
			told: { webhooksGoTo: 'automatic' },
			silent: { webhooksGoTo: 'none' },
			limited: { webhooksGoTo: 'none', limit: LIMIT_MINUTES },
		});
		limited = await waits.park('limited');
		await cluster.sandbox.setStatus(limited.charge.hash, 'analyzing');
		byTimer = await waits.park('silent');
		await cluster.sandbox.setStatus(byTimer.charge.hash, 'paid');
		orphaned = await waits.park('silent');
		await cluster.sandbox.setStatus(orphaned.charge.hash, 'paid');
		claimed = await claim();
		const name = await cluster.workerOf(orphaned.executionId);
		const worker = cluster.workers.find((one) => one.name === name);
		await worker?.kill();
		await worker?.start();
	}, BEGIN_MS);

	/** Both webhook processes get the webhooks about two charges, which reads show as paid only then. */
	const claim = async (): Promise<typeof claimed> => {
		const form = { triggerOn: ['paid'] };
		const { id } = await publish(cluster, 'claims', [trigger('claims', form), downstream.node]);
		const hashes = await chargesAt(cluster.sandbox, 2);
		for (const url of cluster.atEach(addressOf(cluster, 'claims'))) {
			for (const hash of hashes) expect(await notify(url, hash)).toBe(200);
		}
		await until('all are parked', async () => await areAll(id, 'waiting'));
		for (const hash of hashes) await cluster.sandbox.setStatus(hash, 'paid');
		return { hashes, id };
	};
	const areAll = async (id: string, wanted: string): Promise<boolean> =>
		(await cluster.rest.executions(id)).every(({ status }) => status === wanted);
	const notify = async (url: string, hash: string): Promise<number> =>
		(await postJson(url, { hash, payment_status: 'paid' })).status;
	const reportsOn = (hash: string): number =>
		downstream.reports.filter((report) => report.hash === hash).length;

	test('a webhook process takes the webhook and a worker continues; the main process takes none', async () => {
		const { charge, executionId } = await waits.park('told');
		const atMain = charge.postback_url.replace(cluster.url, cluster.main.url);

		const ahead = await notify(charge.postback_url, charge.hash);
		// The first look of a young worker (n8n/recovery.ts).
		const hasLooked = () => waits.readsOf(charge.hash) > 1;
		await until('it looks', hasLooked, { withinMs: BY_TIMER_MS });
		await waits.parkedAgain(executionId);
		await waits.payUnheard(charge.hash);
		const misrouted = await notify(atMain, charge.hash);
		const before = await cluster.rest.status(executionId);
		const answered = await notify(charge.postback_url, charge.hash);
		const { json } = await downstream.reportOn(charge.hash);

		expect(charge.postback_url).toMatch(`${cluster.url}/webhook-waiting/`);
		expect([misrouted, before]).toEqual([404, 'waiting']);
		expect([ahead, answered]).toEqual([200, 200]);
		expect(json).toMatchObject(PAID);
		expect(await cluster.workerOf(executionId)).toMatch(/^worker-/);
	});

	test('the same webhook to both webhook processes at the same moment ends the wait once', async () => {
		const answers: number[] = [];
		for (let round = 0; round < ROUNDS_AT_BOTH; round++) {
			const { charge, executionId } = await waits.park('told');
			await waits.payUnheard(charge.hash);
			const urls = cluster.atEach(charge.postback_url);
			answers.push(...(await Promise.all(urls.map(async (url) => await notify(url, charge.hash)))));
			await downstream.reportOn(charge.hash);
			await cluster.rest.ended(executionId);
			expect(reportsOn(charge.hash)).toBe(1);
		}
	}, 300_000);

	test("without a webhook, n8n's timer has a worker end the wait", async () => {
		const { json } = await downstream.reportOn(byTimer.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject(PAID);
	});

	test('what a webhook claimed to both webhook processes starts the trigger’s workflow once, on a worker', async () => {
		const { hashes, id } = claimed;
		for (const hash of hashes) await downstream.reportOn(hash, BY_TIMER_MS);
		const haveEnded = async () => await areAll(id, 'success');
		await until('all have ended', haveEnded, { withinMs: BY_TIMER_MS });

		expect(hashes.map(reportsOn)).toEqual([1, 1]);
		const [first, ...others] = await cluster.rest.executions(id);
		expect(others).toHaveLength(2 * hashes.length - 1);
		expect(await cluster.workerOf(first?.id ?? '')).toMatch(/^worker-/);
	});

	test('after the worker that parked the execution was killed, another worker ends the wait', async () => {
		const { json } = await downstream.reportOn(orphaned.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject(PAID);
		expect(reportsOn(orphaned.charge.hash)).toBe(1);
	});

	test('at the time limit the wait ends with the status that is read then', async () => {
		const { json } = await downstream.reportOn(limited.charge.hash, BY_TIMER_MS);

		expect(json).toMatchObject({ paid: false, payment_status: 'analyzing', timed_out: true });
	});
});
