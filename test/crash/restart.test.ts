import { setTimeout as pause } from 'node:timers/promises';
import range from 'lodash/range';
import { Waits } from '../helpers/e2e/waits';
import { Downstream } from '../helpers/e2e/workflows';
import { type N8n, startN8n, WITHOUT_EDITOR } from '../helpers/n8n/n8n';
import { CleanUp } from '../helpers/n8n/processes';
import { postgresEnvironment, startPostgres } from '../helpers/queue/cluster';
import { until } from '../helpers/until';

const WAITS = 12;
const START_MS = 15 * 60_000;
const ROUND_MS = 15 * 60_000;
/** By then every wait is due. */
const DOWN_MS = 75_000;

const DATABASES: Array<[string, (cleanUp: CleanUp) => Promise<Record<string, string>>]> = [
	['SQLite', async () => ({})],
	[
		'PostgreSQL',
		async (cleanUp) => {
			const postgres = await startPostgres(await cleanUp.folder('restart-servers'));
			cleanUp.add(postgres.stop);
			return postgresEnvironment(postgres);
		},
	],
];

/** At its start, n8n resumes what is due before it looks for executions that crashed. */
describe.each(DATABASES)('waits that are due while n8n is down, with %s', (database, prepare) => {
	let cleanUp: CleanUp;
	let n8n: N8n;
	let downstream: Downstream;
	let waits: Waits;

	beforeAll(async () => {
		cleanUp = new CleanUp();
		const env = { ...WITHOUT_EDITOR, ...(await prepare(cleanUp)) };
		n8n = await startN8n(`restart-${database}`, { env });
		cleanUp.add(n8n.close);
		downstream = await Downstream.open();
		cleanUp.add(async () => await downstream.close());
		waits = await Waits.publish(n8n, downstream, { silent: { webhooksGoTo: 'none' } });
	}, START_MS);
	afterAll(async () => await cleanUp?.run());

	test.each(['stop', 'kill'] as const)(
		'all of them wait again after the start, and end once they are paid (%s)',
		async (end) => {
			downstream.clear();
			const begin = async () => (await waits.begin('silent')).hash;
			const hashes = await Promise.all(range(WAITS).map(begin));
			await n8n.rest.settled();
			const readsBefore = hashes.map((hash) => waits.readsOf(hash));

			await n8n.main[end]();
			await pause(DOWN_MS);
			await n8n.startAgain();
			await until(
				'all are read again',
				() => hashes.every((hash, nth) => waits.readsOf(hash) > (readsBefore[nth] ?? 0)),
				{ withinMs: 150_000 },
			);
			await n8n.rest.settled();
			for (const hash of hashes) await n8n.sandbox.pay(hash);
			await downstream.reaches(WAITS).catch(() => undefined);

			const reported = downstream.reports.map(({ hash }) => String(hash));
			expect(reported.sort()).toEqual(hashes.sort());
		},
		ROUND_MS,
	);
});
