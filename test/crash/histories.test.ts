import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Figures } from '../helpers/figures';
import { Chance, tally } from '../helpers/chance';
import { Downstream } from '../helpers/e2e/workflows';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { DATA_FOLDER } from '../helpers/n8n/paths';
import { startCluster } from '../helpers/queue/cluster';
import { findAnomalies, type History, type Wait } from '../helpers/crash/checker';
import { makePlan } from '../helpers/crash/plan';
import { HistoryBuilder } from '../helpers/crash/history';
import { Recorder } from '../helpers/crash/recorder';

const WITHIN_MS = 90 * 60_000;
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 2_100);

/** A single process keeps the data of crashed executions, so that n8n's Retry can continue them; queue mode does not. */
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
		figures: new Figures('One process: histories'),
	},
	{
		processes: 'several processes',
		start: async () => await startCluster({ name: 'histories', webhooks: 2 }),
		size: {
			operations: OPERATIONS,
			kills: Math.ceil(OPERATIONS / 100),
			restarts: Math.ceil(OPERATIONS / 700),
		},
		figures: new Figures('Queue mode: histories'),
	},
];

/** How a wait ended, or `open`. */
function describeEnd({ results, decided }: Wait): string {
	if (results.some(({ paid }) => paid)) return 'paid';
	if (results.length === 0) return decided ? 'lost' : 'open';
	return decided ? 'not paid' : 'out of time';
}

describe.each(KINDS)('charges, sales and waits while n8n is killed, as $processes', (kind) => {
	const chance = Chance.ofThisRun();
	const { size, figures } = kind;
	let n8n: N8n;
	let downstream: Downstream;
	let recorder: Recorder;
	let builder: HistoryBuilder;
	let history: History;

	beforeAll(async () => {
		n8n = await kind.start();
		downstream = await Downstream.open();
		recorder = await Recorder.open(n8n, downstream);
		await recorder.carryOut(makePlan(chance, size));
		builder = await HistoryBuilder.from(recorder);
		history = builder.build();
		await mkdir(DATA_FOLDER, { recursive: true });
		const { otherErrors, mixedUpExecutions, executionsWithoutResult } = builder;
		const { reports } = recorder;
		await writeFile(
			path.join(DATA_FOLDER, `history-${chance.seed}.json`),
			JSON.stringify(
				{ ...history, otherErrors, mixedUpExecutions, executionsWithoutResult, reports },
				null,
				'\t',
			),
		);
		addFigures();
	}, WITHIN_MS);
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
		figures.show();
	});

	const addFigures = (): void => {
		const { attempts, charges, deliveries, startedSales, requests } = history;
		const { operations, deaths, chargesAtKills } = recorder;
		const title = `charges, Retries and notifications at random (seed ${chance.seed})`;
		figures.add(title, operations, `${findAnomalies(history).length} anomalies`);
		const inProgress = chargesAtKills.reduce((sum, count) => sum + count, 0);
		const killed = `${inProgress} charges in progress; ${deaths} more processes ended by themselves`;
		figures.add('`kill -9` of a process of n8n', size.kills, killed);
		if (size.restarts > 0) {
			figures.add('restart of Redis, and of PostgreSQL', 2 * size.restarts, '');
		}
		const outcomes = tally(attempts.map(({ outcome }) => outcome));
		figures.add('attempts to charge in executions and Retries', attempts.length, outcomes);
		figures.add('requests', requests.length, `${charges.length} charges`);
		const answers = tally(deliveries.map(({ answered }) => String(answered ?? 'none')));
		figures.add(
			'notifications',
			deliveries.length,
			`answered ${answers}; ${startedSales.length} sales started`,
		);
		const { waits } = history;
		const ends = waits.map((wait) => describeEnd(wait));
		figures.add('waits', waits.length, tally(ends));
		figures.add('reads in progress at the kills', recorder.readsAtKills, '');
		figures.add('executions whose data n8n lost', builder.lostExecutions.length, '');
	};

	test('nothing is charged twice, lost or refused without a cause', () => {
		expect(findAnomalies(history)).toEqual([]);
	});

	test('some waits ended with a payment, and some are still open', () => {
		const ends = new Set(history.waits.map((wait) => describeEnd(wait)));
		expect([...ends]).toEqual(expect.arrayContaining(['paid', 'open']));
	});

	test('executions return only the transactions of their own orders', () => {
		expect(builder.mixedUpExecutions).toEqual([]);
	});

	test('charges were in progress at the kills, and some succeeded', () => {
		expect(recorder.chargesAtKills.some((open) => open > 0)).toBe(true);
		expect(history.attempts.some(({ outcome }) => outcome === 'charged')).toBe(true);
		expect(history.startedSales).not.toEqual([]);
	});
});
