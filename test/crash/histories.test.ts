import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Figures } from '../helpers/figures';
import { Chance, tally } from '../helpers/chance';
import { Downstream } from '../helpers/e2e/workflows';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { DATA_FOLDER } from '../helpers/n8n/paths';
import { startCluster } from '../helpers/queue/cluster';
import { anomaliesIn, type History, type Wait } from '../helpers/crash/checker';
import { planFor } from '../helpers/crash/plan';
import { Records } from '../helpers/crash/history';
import { Recorder } from '../helpers/crash/recorder';

const COMMAND = 'npm run crash';
const WITHIN_MS = 60 * 60_000;
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 2_100);

/** One process keeps what a crash has ended, so that n8n's Retry can go on with it; several do not. */
const KINDS = [
	{
		processes: 'one process',
		start: async () => await startN8n('crash'),
		size: {
			operations: Math.ceil(OPERATIONS / 4),
			kills: Math.ceil(OPERATIONS / 100),
			restarts: 0,
			hasBatches: true,
		},
		figures: new Figures('One process: histories', COMMAND),
	},
	{
		processes: 'several processes',
		start: async () => await startCluster({ name: 'histories', webhooks: 2 }),
		size: {
			operations: OPERATIONS,
			kills: Math.ceil(OPERATIONS / 100),
			restarts: Math.ceil(OPERATIONS / 700),
		},
		figures: new Figures('Queue mode: histories', COMMAND),
	},
];

/** How a wait has ended, or that it has not. */
function endOf({ wentOn, decided }: Wait): string {
	if (wentOn.some(({ paid }) => paid)) return 'paid';
	if (wentOn.length === 0) return decided ? 'lost' : 'open';
	return decided ? 'not paid' : 'out of time';
}

describe.each(KINDS)('charges, sales and waits while n8n is killed, as $processes', (kind) => {
	const chance = Chance.ofThisRun();
	const { size, figures } = kind;
	let n8n: N8n;
	let downstream: Downstream;
	let recorder: Recorder;
	let records: Records;
	let history: History;

	beforeAll(async () => {
		n8n = await kind.start();
		downstream = await Downstream.open();
		recorder = await Recorder.open(n8n, downstream);
		await recorder.carryOut(planFor(chance, size));
		records = await Records.of(recorder);
		history = records.history;
		await mkdir(DATA_FOLDER, { recursive: true });
		const { otherErrors, mixedUp } = records;
		const { reports } = recorder;
		await writeFile(
			path.join(DATA_FOLDER, `history-${chance.seed}.json`),
			JSON.stringify({ ...history, otherErrors, mixedUp, reports }, null, '\t'),
		);
		enter();
	}, WITHIN_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
		figures.show();
	});

	const enter = (): void => {
		const { attempts, made, noticed, emitted, asked } = history;
		const { operations, deaths, openAtKills } = recorder;
		const title = `charges, Retries and notices at random (seed ${chance.seed})`;
		figures.add(title, operations, `${anomaliesIn(history).length} anomalies`);
		const open = openAtKills.reduce((sum, count) => sum + count, 0);
		const killed = `${open} charges under way; ${deaths} more ended by themselves`;
		figures.add('`kill -9` of a process of n8n', size.kills, killed);
		if (size.restarts > 0) {
			figures.add('restart of Redis, and of PostgreSQL', 2 * size.restarts, '');
		}
		const outcomes = tally(attempts.map(({ outcome }) => outcome));
		figures.add('charges asked of executions and Retries', attempts.length, outcomes);
		figures.add('asked for', asked.length, `${made.length} charges`);
		const answers = tally(noticed.map(({ answered }) => String(answered ?? 'none')));
		figures.add('notices', noticed.length, `answered ${answers}; ${emitted.length} sales started`);
		const { waits } = history;
		const ends = waits.map((wait) => endOf(wait));
		figures.add('waits', waits.length, tally(ends));
		figures.add('looks under way at the kills', recorder.looksAtKills, '');
		figures.add('executions of which n8n kept nothing', records.forgotten.length, '');
	};

	test('nothing is charged twice, lost, or refused without a cause', () => {
		expect(anomaliesIn(history)).toEqual([]);
	});

	test('waits went on, and some are still open', () => {
		const ends = new Set(history.waits.map((wait) => endOf(wait)));
		expect([...ends]).toEqual(expect.arrayContaining(['paid', 'open']));
	});

	test('what comes out belongs to the orders that went in', () => {
		expect(records.mixedUp).toEqual([]);
	});

	test('charges were under way at the kills, and some came out', () => {
		expect(recorder.openAtKills.some((open) => open > 0)).toBe(true);
		expect(history.attempts.some(({ outcome }) => outcome === 'charged')).toBe(true);
		expect(history.emitted).not.toEqual([]);
	});
});
