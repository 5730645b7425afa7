import { setTimeout as pause } from 'node:timers/promises';
import { Waits } from '../../helpers/e2e/waits';
import { Downstream } from '../../helpers/e2e/workflows';
import { postJson } from '../../helpers/http';
import type { N8n } from '../../helpers/n8n/n8n';
import { until } from '../../helpers/until';
import type { StoredTransaction } from '../../sandbox';
import { cpuOf, type Row, row } from './measure';
import { httpRequest, openAccount, side } from './sides';

const OPEN = 60;
const WOKEN = 20;
const QUIET_MS = 20_000;

/** Executions that wait: webhooks wake some of them, n8n's timer the others. The peer reads with HTTP Request. */
export async function waits(n8n: N8n): Promise<Row[]> {
	const { sandbox } = n8n;
	const downstream = await Downstream.open();
	const stage = await Waits.publish(n8n, downstream, {
		told: { webhooksGoTo: 'automatic' },
		untold: { webhooksGoTo: 'none' },
	});
	const open = async (way: string): Promise<StoredTransaction[]> => {
		const charges: StoredTransaction[] = [];
		while (charges.length < OPEN) charges.push(await stage.begin(way));
		return charges;
	};
	const reportedAfterPayment = async ({ hash }: StoredTransaction): Promise<number> => {
		const start = Date.now();
		await sandbox.pay(hash);
		return (await downstream.reportOn(hash)).at - start;
	};

	// A young n8n is busy with itself.
	await pause(2 * QUIET_MS);
	const woken = (await open('told')).slice(0, WOKEN);
	const between = await cpuOf(n8n, async () => await pause(QUIET_MS));

	const looks = await cpuOf(n8n, async () => {
		for (const { hash, postback_url: url } of woken) {
			const before = stage.readsOf(hash);
			await postJson(url, { event: 'transaction', hash, payment_status: 'paid' });
			await until('the wait looks', () => stage.readsOf(hash) > before, { everyMs: 5 });
		}
	});
	const account = await openAccount(n8n, sandbox);
	const http = httpRequest(account, `/transactions/${woken[0]?.hash}`);
	const read = await side(account, [http]);
	const reads = await cpuOf(n8n, async () => {
		for (const _charge of woken) await read();
	});

	const told: number[] = [];
	for (const charge of woken) told.push(await reportedAfterPayment(charge));
	const untold = await Promise.all((await open('untold')).map(reportedAfterPayment));

	const idle = `CPU time of ${QUIET_MS / 1_000} s between looks, ${OPEN} open waits`;
	const looked = `CPU time of ${WOKEN} looks after webhooks that the platform does not confirm`;
	const heard = 'the longest from a webhook to the next node';
	const unheard = 'the longest from a payment without a webhook to the next node';
	return [
		// Two hundredths of a core. An idle n8n takes so little that a ratio would compare noise.
		row(idle, { ours: between }, QUIET_MS / 50),
		row(looked, { ours: looks, peer: reads }, 2),
		row(heard, { ours: Math.max(...told) }, 2_000),
		row(unheard, { ours: Math.max(...untold) }, 75_000),
	];
}
