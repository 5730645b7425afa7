import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Figures } from '../../support/figures';
import { Chance, tally } from '../crash/stage/orders';
import { DATA_FOLDER } from '../n8n/paths';
import { anomaliesIn, type History } from './checker';
import { planFor } from './stage/plan';
import { Records } from './stage/history';
import { Recorder } from './stage/recorder';

const figures = new Figures('Queue mode: histories', 'npm run e2e -- crash');
const WITHIN_MS = 60 * 60_000;
const OPERATIONS = Number(process.env.HISTORY_OPERATIONS ?? 2_100);
const KILLS = Math.ceil(OPERATIONS / 100);
const RESTARTS = Math.ceil(OPERATIONS / 700);

describe('charges and sales while the processes of a distributed n8n are killed', () => {
	const chance = Chance.ofThisRun();
	let recorder: Recorder;
	let history: History;

	beforeAll(async () => {
		recorder = await Recorder.open('histories');
		const plan = planFor(chance, { operations: OPERATIONS, kills: KILLS, restarts: RESTARTS });
		await recorder.carryOut(plan);
		const records = await Records.of(recorder);
		history = records.history;
		await mkdir(DATA_FOLDER, { recursive: true });
		const { otherErrors } = records;
		await writeFile(
			path.join(DATA_FOLDER, `history-${chance.seed}.json`),
			JSON.stringify({ ...history, otherErrors, reports: recorder.reports }, null, '\t'),
		);
		enter(records);
	}, WITHIN_MS);
	afterAll(async () => {
		await recorder?.close();
		figures.show();
	});

	const enter = ({ forgotten }: Records): void => {
		const { attempts, made, noticed, emitted, asked } = history;
		const { operations, deaths } = recorder;
		const title = `charges, Retries and notices at random (seed ${chance.seed})`;
		figures.add(title, operations, `${anomaliesIn(history).length} anomalies`);
		figures.add('`kill -9` of a process of n8n', KILLS, `${deaths} more ended by themselves`);
		figures.add('restart of Redis, and of PostgreSQL', 2 * RESTARTS, '');
		const outcomes = tally(attempts.map(({ outcome }) => outcome));
		figures.add('executions and Retries that charge', attempts.length, outcomes);
		figures.add('asked for', asked.length, `${made.length} charges`);
		const answers = tally(noticed.map(({ answered }) => String(answered ?? 'none')));
		figures.add('notices', noticed.length, `answered ${answers}; ${emitted.length} sales started`);
		figures.add('executions of which n8n kept nothing', forgotten.length, '');
	};

	test('nothing is charged twice, lost, or refused without a cause', () => {
		expect(anomaliesIn(history)).toEqual([]);
	});
});
