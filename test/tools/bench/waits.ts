import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { eachLimit } from '../../../nodes/DigitalSales/shared/eachLimit';
import { cpf } from '../../helpers/charge';
import {
	cartOf,
	createPix,
	Downstream,
	waitForPayment,
	webStart,
} from '../../helpers/e2e/workflows';
import { until } from '../../helpers/until';
import type { Bench } from './bench';
import { floorTrigger } from './nodes';
import type { Row } from './rows';

const OPEN = 100;
const WOKEN = 30;
const OPENED_AT_ONCE = 8;
const QUIET_MS = 20_000;
const PUBLIC = 'https://n8n.example.com';

/** Executions that wait: those whose webhooks n8n expects are told, the others are looked at by the timer. */
export async function waits(bench: Bench): Promise<Row[]> {
	const stage = await publishAll(bench);
	const idle = await stage.used(async () => await pause(QUIET_MS));

	const told = await stage.open('told');
	const between = await stage.used(async () => await pause(QUIET_MS));
	const woken = await stage.used(async () => {
		for (const hash of told.slice(0, WOKEN)) await stage.wake(hash);
	});
	const paidMs: number[] = [];
	for (const hash of told.slice(0, WOKEN)) {
		await stage.pay(hash);
		paidMs.push(await stage.reportedAfter(hash, async () => await stage.tell(hash)));
	}

	const untold = await stage.open('untold');
	const seen = untold.map(async (hash) => {
		return await stage.reportedAfter(hash, async () => await stage.pay(hash));
	});
	const answersMs: number[] = [];
	let isOver = false;
	const seenMs: number[] = [];
	const timed = await stage.used(async () => {
		const all = Promise.all(seen).then((values) => {
			seenMs.push(...values);
			isOver = true;
		});
		while (!isOver) {
			answersMs.push(await stage.postElsewhere());
			await pause(1_000);
		}
		await all;
	});
	await stage.close();

	const perLook = ({ cpuMs, looks, ms }: Used): number =>
		(cpuMs - (idle.cpuMs * ms) / idle.ms) / looks;
	const longest = (what: string, values: number[], atMost: number): Row => ({
		what: `the longest ${what}`,
		unit: 'ms',
		ours: Math.max(...values),
		goal: { atMost },
	});
	return [
		{
			what: `CPU time between looks, ${OPEN} open waits`,
			unit: 'ms',
			ours: between.cpuMs,
			floor: (idle.cpuMs * between.ms) / idle.ms,
			goal: { of: 'floor', atMost: 1.25 },
		},
		{
			what: 'CPU time of a look after a webhook that the platform does not confirm',
			unit: 'ms',
			ours: perLook(woken),
			goal: { atMost: 240 },
		},
		{
			what: 'CPU time of a look at its time',
			unit: 'ms',
			ours: perLook(timed),
			goal: { atMost: 200 },
		},
		longest('from a webhook to the next node', paidMs, 2_000),
		longest('from a payment without a webhook to the next node', seenMs, 75_000),
		longest(
			`from another webhook to its answer meanwhile (of ${answersMs.length})`,
			answersMs,
			1_000,
		),
	];
}

/** CPU time in milliseconds, and the number of looks that used it. */
interface Used {
	cpuMs: number;
	looks: number;
	ms: number;
}

async function publishAll(bench: Bench) {
	const sandbox = await bench.sandbox({});
	const account = await bench.account(sandbox);
	const downstream = await Downstream.open();
	const elsewhere = randomUUID();
	await bench.publish(account, [floorTrigger(elsewhere)]);
	for (const [path, webhooksGoTo] of Object.entries({ told: 'automatic', untold: 'none' })) {
		const charge = createPix({
			webhooksGoTo,
			customerName: '={{ $json.body.customer }}',
			customerDocument: '={{ $json.body.document }}',
			cart: cartOf(sandbox),
			qrCodeImage: false,
		});
		await bench.publish(account, [webStart(path), charge, waitForPayment(), downstream.node]);
	}

	let customers = 0;
	const reads = () => sandbox.requests.filter(({ method }) => method === 'GET');
	const looksAt = (hash: string) => reads().filter(({ path }) => path.endsWith(hash)).length;
	const tell = async (hash: string): Promise<void> => {
		const made = sandbox.transactions.find((one) => one.hash === hash);
		const url = made?.postback_url.replace(PUBLIC, bench.n8n.main.url) ?? '';
		const body = { event: 'transaction', hash, payment_status: 'paid' };
		const headers = { 'content-type': 'application/json' };
		const { ok, status } = await fetch(url, {
			method: 'POST',
			headers,
			body: JSON.stringify(body),
		});
		if (!ok) throw new Error(`n8n answered ${status}.`);
	};

	return {
		tell,
		pay: async (hash: string) => void (await sandbox.setStatus(hash, 'paid')),
		/** Begins waits, and returns the hashes that they wait for. */
		open: async (way: 'told' | 'untold'): Promise<string[]> => {
			const hashes: string[] = [];
			const begun = Array.from({ length: OPEN }, () => (customers += 1));
			await eachLimit(begun, OPENED_AT_ONCE, async (nth) => {
				const customer = `${way} ${nth}`;
				await bench.post(way, { customer, document: cpf(400_000_000 + nth) });
				const waitedFor = () => {
					const made = sandbox.transactions.find((one) => one.customer.name === customer);
					return made && looksAt(made.hash) > 0 ? made.hash : undefined;
				};
				hashes.push(await until(`${customer} is waited for`, waitedFor, { withinMs: 60_000 }));
			});
			await pause(1_000);
			return hashes;
		},
		/** Sends a webhook that falsely claims that a transaction is paid, and waits for the look. */
		wake: async (hash: string): Promise<void> => {
			const before = looksAt(hash);
			await tell(hash);
			await until('the wait looks', () => looksAt(hash) > before, { everyMs: 5 });
		},
		/** The milliseconds until the next node has run. */
		reportedAfter: async (hash: string, act: () => Promise<void>): Promise<number> => {
			const start = Date.now();
			await act();
			return (await downstream.reportOn(hash)).at - start;
		},
		postElsewhere: async (): Promise<number> => {
			const start = performance.now();
			await bench.post(`${elsewhere}/floor`, {});
			return performance.now() - start;
		},
		used: async (work: () => Promise<void>): Promise<Used> => {
			const [cpu, looks, start] = [bench.cpuMs(), reads().length, performance.now()];
			await work();
			return {
				cpuMs: bench.cpuMs() - cpu,
				looks: reads().length - looks,
				ms: performance.now() - start,
			};
		},
		close: async () => await downstream.close(),
	};
}
