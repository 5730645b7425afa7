import { setTimeout as pause } from 'node:timers/promises';
import { Waits } from '../../helpers/e2e/waits';
import { Downstream } from '../../helpers/e2e/workflows';
import { postJson } from '../../helpers/http';
import { until } from '../../helpers/until';
import { type Bench, PUBLIC } from './bench';
import { httpRequest } from './nodes';
import { type Row, row } from './rows';

const OPEN = 60;
const WOKEN = 20;
const QUIET_MS = 20_000;

/** Executions that wait: webhooks wake some of them, n8n's timer the others. The peer reads with HTTP Request. */
export async function waits(bench: Bench): Promise<Row[]> {
	const sandbox = await bench.sandbox();
	const account = await bench.account(sandbox);
	const { rest, main } = bench.n8n;
	const downstream = await Downstream.open();
	const running = { url: main.url, rest, credential: account.ours, sandbox };
	const stage = await Waits.publish(running, downstream, {
		told: { webhooksGoTo: 'automatic' },
		untold: { webhooksGoTo: 'none' },
	});
	const open = async (way: string): Promise<string[]> => {
		const hashes: string[] = [];
		while (hashes.length < OPEN) hashes.push((await stage.begin(way)).hash);
		return hashes;
	};
	const tell = async (hash: string): Promise<void> => {
		const made = sandbox.transactions.find((one) => one.hash === hash);
		const url = made?.postback_url.replace(PUBLIC, `${main.url}/`) ?? '';
		await postJson(url, { event: 'transaction', hash, payment_status: 'paid' });
	};
	const pay = async (hash: string): Promise<void> => await sandbox.setStatus(hash, 'paid');
	const reportedAfter = async (hash: string, act: typeof tell): Promise<number> => {
		const start = Date.now();
		await act(hash);
		return (await downstream.reportOn(hash)).at - start;
	};

	// A young n8n is busy with itself.
	await pause(2 * QUIET_MS);
	const woken = (await open('told')).slice(0, WOKEN);
	const between = await bench.cpuOf(async () => await pause(QUIET_MS));
	const looks = await bench.cpuOf(async () => {
		for (const hash of woken) {
			const before = stage.readsOf(hash);
			await tell(hash);
			await until('the wait looks', () => stage.readsOf(hash) > before, { everyMs: 5 });
		}
	});
	const url = `${account.baseUrl}/transactions/${woken[0]}`;
	const read = await bench.side(account, httpRequest(account.bearer, url));
	const reads = await bench.cpuOf(async () => {
		for (const _hash of woken) await read();
	});
	const told: number[] = [];
	for (const hash of woken) {
		await pay(hash);
		told.push(await reportedAfter(hash, tell));
	}
	const untold = await open('untold');
	const seen = await Promise.all(untold.map(async (hash) => await reportedAfter(hash, pay)));
	await downstream.close();

	const idle = `CPU time of ${QUIET_MS / 1_000} s between looks, ${OPEN} open waits`;
	const looked = `CPU time of ${WOKEN} looks after webhooks that the platform does not confirm`;
	return [
		// Two hundredths of a core. An idle n8n takes so little that a ratio would compare noise.
		row(idle, [between], QUIET_MS / 50),
		row(looked, [looks, reads], 2),
		row('the longest from a webhook to the next node', [Math.max(...told)], 2_000),
		row(
			'the longest from a payment without a webhook to the next node',
			[Math.max(...seen)],
			75_000,
		),
	];
}
