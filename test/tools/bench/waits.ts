import { setTimeout as pause } from 'node:timers/promises';
import { Waits } from '../../helpers/e2e/waits';
import { postJson } from '../../helpers/http';
import { until } from '../../helpers/until';
import type { Bench } from './bench';
import { httpRequest } from './nodes';
import type { Row } from './rows';

const OPEN = 60;
const WOKEN = 20;
const QUIET_MS = 20_000;
const PUBLIC = 'https://n8n.example.com';

/** Executions that wait: webhooks wake some of them, n8n's timer the others. The peer reads with HTTP Request. */
export async function waits(bench: Bench): Promise<Row[]> {
	const sandbox = await bench.sandbox({});
	const account = await bench.account(sandbox);
	const { rest, main } = bench.n8n;
	const downstream = await bench.downstream();
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
		const url = made?.postback_url.replace(PUBLIC, main.url) ?? '';
		await postJson(url, { event: 'transaction', hash, payment_status: 'paid' });
	};
	const reportedAfter = async (hash: string, act: () => Promise<void>): Promise<number> => {
		const start = Date.now();
		await act();
		return (await downstream.reportOn(hash)).at - start;
	};
	const quiet = async (): Promise<number> => await bench.cpuOf(async () => await pause(QUIET_MS));

	// A young n8n is busy with itself.
	await pause(2 * QUIET_MS);
	const told = await open('told');
	const between = await quiet();
	const woken = told.slice(0, WOKEN);
	const looks = await bench.cpuOf(async () => {
		for (const hash of woken) {
			const before = stage.readsOf(hash);
			await tell(hash);
			await until('the wait looks', () => stage.readsOf(hash) > before, { everyMs: 5 });
		}
	});
	const url = `${account.baseUrl}/transactions/${told[0]}`;
	const read = await bench.side(account, httpRequest(account.bearer, url));
	const reads = await bench.cpuOf(async () => {
		for (const _hash of woken) await read();
	});
	const paid: number[] = [];
	for (const hash of woken) {
		await sandbox.setStatus(hash, 'paid');
		paid.push(await reportedAfter(hash, async () => await tell(hash)));
	}
	const untold = (await open('untold')).map(async (hash) => {
		return await reportedAfter(hash, async () => await sandbox.setStatus(hash, 'paid'));
	});
	const seen = await Promise.all(untold);

	const row = (what: string, mine: number, atMost: number): Row => ({
		what,
		unit: 'ms',
		ours: mine,
		atMost,
	});
	return [
		// Two hundredths of a core. An idle n8n takes so little that a ratio would compare noise.
		row(
			`CPU time of ${QUIET_MS / 1_000} s between looks, ${OPEN} open waits`,
			between,
			QUIET_MS / 50,
		),
		{
			...row(
				`CPU time of ${WOKEN} looks after webhooks that the platform does not confirm`,
				looks,
				2,
			),
			peer: reads,
			of: 'peer',
		},
		row('the longest from a webhook to the next node', Math.max(...paid), 2_000),
		row('the longest from a payment without a webhook to the next node', Math.max(...seen), 75_000),
	];
}
