import { setTimeout as pause } from 'node:timers/promises';
import { Downstream } from '../e2e/stage/downstream';
import { chainOf, TRIGGER } from '../e2e/stage/workflows';
import { sendRequest } from '../engine/harness/http';
import { chargesAt } from '../support/charge';
import { Figures } from '../support/figures';
import { Cluster } from './stage/cluster';
import { onceBetween } from './stage/onceNodes';

const figures = new Figures('Queue mode: one sale, many notices', 'npm run e2e:queue');
const START_MS = 15 * 60_000;
const NOTICES = 200;
const ROUNDS = 10;
const APART_MS = 1_000;
const RESENT_AFTER_MS = 5_000;

describe('identical notices, over several processes', () => {
	let cluster: Cluster;
	let downstream: Downstream;
	let resent = 0;

	beforeAll(async () => {
		cluster = await Cluster.open({ name: 'queue-once', webhooks: 2 });
		downstream = await Downstream.open();
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: 'once-plain' };
		const plain = chainOf('plain', cluster.credential, [trigger, downstream.node]);
		await cluster.rest.publish(await cluster.rest.createWorkflow(plain));
		await publishTemplate();
	}, START_MS);
	beforeEach(() => {
		downstream.clear();
		resent = 0;
	});
	afterAll(async () => {
		await cluster?.close();
		await downstream?.close();
		figures.show();
	});

	/** The example that adds once-only, with the report behind it. */
	const publishTemplate = async (): Promise<void> => {
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: 'once-template' };
		const workflow = chainOf('template', cluster.credential, [trigger, downstream.node]);
		const once = await onceBetween(workflow, {
			start: 'Trigger',
			next: downstream.node.name,
			key: "{{ $('Trigger').first().json.hash }} {{ $('Trigger').first().json.payment_status }}",
		});
		await cluster.rest.publish(await cluster.rest.createWorkflow(once));
	};
	const addressOf = (name: 'plain' | 'template'): string =>
		`${cluster.url}/webhook/once-${name}/digital-sales`;
	const paid = async (count: number): Promise<string[]> => {
		const hashes = await chargesAt(cluster.sandbox, count);
		for (const hash of hashes) await cluster.sandbox.setStatus(hash, 'paid');
		return hashes;
	};
	/** All at once; whatever is not taken comes again, as the service does it. */
	const storm = async (urls: string[], hash: string): Promise<void> => {
		const headers = { 'content-type': 'application/json' };
		const body = JSON.stringify({ hash, payment_status: 'paid' });
		await Promise.all(
			Array.from({ length: NOTICES }, async (_, nth) => {
				const url = urls[nth % urls.length] ?? '';
				for (;;) {
					const { status } = await sendRequest(url, { headers, body });
					if (status === 200) return;
					expect(status).toBe(503);
					resent += 1;
					await pause(RESENT_AFTER_MS);
				}
			}),
		);
	};

	test('200 at once to one webhook process start one execution', async () => {
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) await storm([addressOf('plain')], hash);

		expect(await downstream.reaches(ROUNDS)).toBe(ROUNDS);
		expect(new Set(downstream.reports.map(({ hash }) => hash)).size).toBe(ROUNDS);
		figures.add(
			`${NOTICES} at the same moment to one webhook process`,
			ROUNDS,
			`${downstream.reports.length} executions, one each (${resent} notices re-sent after 503)`,
		);
	});

	test('a second apart to two webhook processes they start one execution', async () => {
		const hashes = await paid(ROUNDS);
		const urls = cluster.atEach(addressOf('plain'));
		const headers = { 'content-type': 'application/json' };
		for (const hash of hashes) {
			for (const url of urls) {
				await sendRequest(url, { headers, body: JSON.stringify({ hash, status: 'paid' }) });
				// The answer is out before n8n has written what the other process is to know.
				await pause(APART_MS);
			}
		}

		expect(await downstream.reaches(ROUNDS)).toBe(ROUNDS);
		figures.add(
			'a second apart to two webhook processes',
			ROUNDS,
			`${downstream.reports.length} executions, one each`,
		);
	});

	test('200 at once to two webhook processes start two at most', async () => {
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) await storm(cluster.atEach(addressOf('plain')), hash);

		const executions = await downstream.reaches(ROUNDS);
		expect(executions).toBeGreaterThanOrEqual(ROUNDS);
		expect(executions).toBeLessThanOrEqual(2 * ROUNDS);
		expect(new Set(downstream.reports.map(({ hash }) => hash)).size).toBe(ROUNDS);
		figures.add(
			`${NOTICES} at the same moment, half of them to each of two webhook processes`,
			ROUNDS,
			`${executions} executions: one for each process that was first in its own eyes`,
		);
	});

	test('the same with the template report once', async () => {
		const hashes = await paid(ROUNDS);
		for (const hash of hashes) await storm(cluster.atEach(addressOf('template')), hash);

		expect(await downstream.reaches(ROUNDS, 60_000, 5_000)).toBe(ROUNDS);
		const sales = downstream.reports.map(({ sale }) => sale);
		expect(new Set(sales)).toEqual(new Set(hashes.map((hash) => `${hash} paid`)));
		figures.add(
			'the same with the template once-in-all-processes.json',
			ROUNDS,
			`${downstream.reports.length} reports, one each`,
		);
	});
});
