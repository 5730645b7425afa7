import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PAUSE_MS } from '../../../../nodes/DigitalSales/once/ledger';
import { chainOf } from '../../../host/e2e/stage/workflows';
import type { N8nRest, SavedCredential } from '../../../host/n8n/rest';
import { Cluster } from '../../../host/queue/stage/cluster';
import { WITH_FLOOR, post, type Bench } from '../bench';
import { type GroupOutcome, type Outcome, sampleOf } from '../outcome';
import { startAndAnswer } from '../workflows';

const WRITERS = 20;
const ENTRIES = 100;
const WORKERS = 2;
/** Each charge enters four times in about a second. */
const CHARGING_APART_MS = 250;

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
	const { rest, url, credential } = bench.n8n;
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
		method: `A node in n8n enters five keys ${ENTRIES} times into its row of 5,000, and times each read-and-write from inside: alone, in ${WRITERS} workflows at once as often as charges do (${CHARGING_APART_MS} ms after each), and as fast as they can. A claim pauses ${PAUSE_MS} ms; one whose check takes longer checks again.`,
	};
}

async function entries({ what, rest, url, credential }: Measured): Promise<Outcome[]> {
	const writers = await Promise.all(
		Array.from({ length: WRITERS }, async () => {
			const address = randomUUID();
			const parameters = { entries: ENTRIES, apartMs: '={{ $json.body.apartMs }}' };
			const entry = { name: 'Entry', type: 'CUSTOM.floorEntry', parameters };
			const start = startAndAnswer(address, 'allEntries');
			await rest.publish(await rest.createWorkflow(chainOf(address, credential, [start, entry])));
			return async (apartMs: number): Promise<number[]> => {
				const { text } = await post(`${url}/webhook/${address}`, { apartMs });
				return timesSchema.parse(JSON.parse(text)).map(({ ms }) => ms);
			};
		}),
	);
	const measure = async (name: string, count: number, apartMs: number): Promise<Outcome> => {
		const some = writers.slice(0, count);
		const times = await Promise.all(some.map(async (write) => await write(apartMs)));
		return outcomeOf(`${name}, ${what}`, times.flat());
	};
	return [
		await measure('an entry', 1, 0),
		await measure(`an entry while ${WRITERS} nodes charge`, WRITERS, CHARGING_APART_MS),
		await measure(`an entry while ${WRITERS} nodes do nothing else`, WRITERS, 0),
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
