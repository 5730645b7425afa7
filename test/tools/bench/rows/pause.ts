import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PAUSE_MS } from '../../../../nodes/DigitalSales/once/ledger';
import { chainOf } from '../../../host/e2e/stage/workflows';
import type { N8nRest, SavedCredential } from '../../../host/n8n/rest';
import { Cluster } from '../../../host/queue/stage/cluster';
import { WITH_FLOOR, post, type Bench } from '../bench';
import type { GroupOutcome, Outcome } from '../outcome';
import { sampleOf } from '../statistics';
import { startAndAnswer } from '../workflows';

const WRITERS = 20;
const ENTRIES = 100;
const WORKERS = 2;

const timesSchema = z.array(z.object({ ms: z.number() }));

/** An n8n whose table of processed items is measured. */
interface Measured {
	what: string;
	rest: N8nRest;
	url: string;
	credential: SavedCredential;
}

/** How long n8n takes to enter keys: a claim pauses for longer. */
export async function pause(bench: Bench): Promise<GroupOutcome> {
	const { rest, url, credential } = bench.stage;
	const outcomes = await entries({ what: 'SQLite, one process', rest, url, credential });
	const cluster = await Cluster.open({
		name: 'bench-pause',
		workers: WORKERS,
		concurrency: WRITERS / WORKERS,
		env: WITH_FLOOR,
	});
	try {
		const what = `PostgreSQL, ${WORKERS} workers`;
		outcomes.push(...(await entries({ what, ...cluster, url: cluster.url })));
	} finally {
		await cluster.close();
	}
	return {
		outcomes,
		method: `A node in n8n enters five keys ${ENTRIES} times into its row of 5,000, alone and in ${WRITERS} workflows at once, as fast as it can, and times each read-and-write from inside. A claim that takes longer than the pause of ${PAUSE_MS} ms has not won.`,
	};
}

async function entries({ what, rest, url, credential }: Measured): Promise<Outcome[]> {
	const writers = await Promise.all(
		Array.from({ length: WRITERS }, async () => {
			const address = randomUUID();
			const entry = { name: 'Entry', type: 'CUSTOM.floorEntry', parameters: { entries: ENTRIES } };
			const start = startAndAnswer(address, 'allEntries');
			await rest.publish(await rest.createWorkflow(chainOf(address, credential, [start, entry])));
			return async (): Promise<number[]> => {
				const { text } = await post(`${url}/webhook/${address}`, {});
				return timesSchema.parse(JSON.parse(text)).map(({ ms }) => ms);
			};
		}),
	);
	const alone = (await writers[0]?.()) ?? [];
	const together = (await Promise.all(writers.map(async (write) => await write()))).flat();
	return [
		outcomeOf(`an entry, ${what}`, alone),
		outcomeOf(`an entry beside ${WRITERS - 1} others, ${what}`, together),
	];
}

function outcomeOf(what: string, times: number[]): Outcome {
	const sorted = [...times].sort((a, b) => a - b);
	const shares = [50, 90, 99, 99.9].map((share) => {
		const at = sorted[Math.ceil((share / 100) * sorted.length) - 1] ?? NaN;
		return `${share} % within ${at.toFixed(0)} ms`;
	});
	const late = times.filter((ms) => ms > PAUSE_MS).length;
	return {
		what,
		unit: 'ms',
		ours: sampleOf(times),
		notes: [
			`${what}: ${shares.join(', ')}; ${late} of ${times.length} took longer than the pause.`,
		],
	};
}
