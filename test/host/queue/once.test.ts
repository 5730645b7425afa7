import { setTimeout as pause } from 'node:timers/promises';
import { Downstream } from '../e2e/stage/workflows';
import { chargesAt } from '../../support/charge';
import { Figures } from '../../support/figures';
import { Cluster } from './stage/cluster';
import { Notices, outcomeOf } from './stage/notices';

const figures = new Figures('Queue mode: one sale, many notices', 'npm run e2e -- queue');
const START_MS = 15 * 60_000;
const NOTICES = 200;
const ROUNDS = 10;
const APART_MS = 1_000;

describe('identical notices, over several processes', () => {
	let cluster: Cluster;
	let downstream: Downstream;

	beforeAll(async () => {
		cluster = await Cluster.open({ name: 'queue-once', webhooks: 2 });
		downstream = await Downstream.open();
	}, START_MS);
	beforeEach(() => downstream.clear());
	afterAll(async () => {
		await cluster?.close();
		await downstream?.close();
		figures.show();
	});

	const publish = async (name: string): Promise<Notices> =>
		await Notices.publish(cluster, downstream, name);
	const paid = async (count: number): Promise<string[]> => {
		const hashes = await chargesAt(cluster.sandbox, count);
		for (const hash of hashes) await cluster.sandbox.setStatus(hash, 'paid');
		return hashes;
	};

	test('200 at once to one webhook process: one item', async () => {
		const notices = await publish('flood');
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) await notices.storm(NOTICES, notices.urls.slice(0, 1), hash);

		expect(await downstream.reaches(ROUNDS)).toBe(ROUNDS);
		const started = await notices.started();
		expect(notices.reportsOn(hashes)).toEqual(hashes.map(() => 1));
		expect(started).toMatchObject({ withItem: ROUNDS, errors: [] });
		figures.add(
			`${NOTICES} at the same moment to one webhook process`,
			ROUNDS,
			`${outcomeOf(started)}; ${notices.resent} notices sent again after 503`,
		);
	}, 300_000);

	test('a second apart to two webhook processes: one item, whichever worker runs them', async () => {
		const notices = await publish('apart');
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) {
			for (const url of notices.urls) {
				await notices.send(url, hash);
				await pause(APART_MS);
			}
		}

		expect(await downstream.reaches(ROUNDS)).toBe(ROUNDS);
		const started = await notices.started();
		expect(notices.reportsOn(hashes)).toEqual(hashes.map(() => 1));
		// The second webhook process knows nothing of the first; the executions share what they know.
		expect(started).toEqual({ withItem: ROUNDS, withoutItem: ROUNDS, errors: [] });
		figures.add(`${APART_MS / 1_000} s apart to two webhook processes`, ROUNDS, outcomeOf(started));
	});

	test('200 at once, half of them to each of two webhook processes: one item', async () => {
		const notices = await publish('floods');
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) await notices.storm(NOTICES, notices.urls, hash);

		await downstream.reaches(ROUNDS);
		const started = await notices.started();
		expect(notices.reportsOn(hashes)).toEqual(hashes.map(() => 1));
		expect(started).toMatchObject({ withItem: ROUNDS, errors: [] });
		figures.add(
			`${NOTICES} at the same moment, half of them to each of two webhook processes`,
			ROUNDS,
			`${outcomeOf(started)}; ${notices.resent} notices sent again after 503`,
		);
	}, 300_000);
});
