import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { sendRequest } from '../../support/http';
import { chargeAt, chargesAt, soldAt } from '../../support/charge';
import { Figures } from '../../support/figures';
import { bodiesLike, contentTypes } from '../../support/notices';
import { chainOf, Downstream, TRIGGER } from './stage/workflows';
import { startN8n, type N8n, WITHOUT_EDITOR } from '../n8n/n8n';

const figures = new Figures('Notices to the trigger, in a real n8n', 'npm run e2e');
const START_MS = 15 * 60_000;
/** The engine is sent fifty times as many; here it is n8n's own reading of them that is new. */
const BODIES = 200;
/** So many at once are more than n8n takes. */
const FLOOD = 100;
const BATCH = 50;
const RESEND_MS = 3_000;
const SEED = Number(process.env.NOTICE_SEED ?? 20_261_120);
const JSON_TYPE = { 'content-type': 'application/json' };
/** So many sandbox seconds pass in a second: what is re-sent after half a minute comes soon. */
const CLOCK_SCALE = 20;

const PUBLISHED = ['shapes', 'identical', 'distinct', 'random', 'down', 'restart'] as const;

describe('Digital Sales Trigger under attack, races and loss', () => {
	let n8n: N8n;
	let downstream: Downstream;

	beforeAll(async () => {
		n8n = await startN8n('e2e-notices', {
			sandbox: { clockScale: CLOCK_SCALE },
			env: WITHOUT_EDITOR,
		});
		downstream = await Downstream.open();
		// All beforehand: under a flood n8n itself is "not ready" now and then.
		for (const name of PUBLISHED) await publish(name);
	}, START_MS);
	beforeEach(() => {
		n8n.sandbox.reset();
		downstream.clear();
	});
	afterAll(async () => {
		await n8n?.close();
		await downstream?.close();
		figures.show();
	});

	/** Publishes a workflow with a trigger of its own. */
	const publish = async (name: string): Promise<void> => {
		const trigger = { name: 'Trigger', type: TRIGGER, webhookId: `notices-${name}` };
		const workflow = chainOf(name, n8n.credential, [trigger, downstream.node]);
		await n8n.rest.publish(await n8n.rest.createWorkflow(workflow));
	};
	const addressOf = (name: (typeof PUBLISHED)[number]): string =>
		`${n8n.url}/webhook/notices-${name}/digital-sales`;
	const post = async (url: string, body: unknown): Promise<number> =>
		(await sendRequest(url, { headers: JSON_TYPE, body: JSON.stringify(body) })).status;
	const pay = async (hash: string): Promise<void> => await n8n.sandbox.setStatus(hash, 'paid');
	const summary = (statuses: number[]): string =>
		[...new Set(statuses)]
			.sort((a, b) => a - b)
			.map((status) => `${statuses.filter((one) => one === status).length} × ${status}`)
			.join(', ');

	test('Get Address knows the URL, and whether it listens', async () => {
		const listening = { name: 'Listening', type: TRIGGER, webhookId: 'notices-listening' };
		const workflow = chainOf('listening', n8n.credential, [listening, downstream.node]);
		const checked = chainOf('checked', n8n.credential, [
			{ name: 'By hand', type: 'n8n-nodes-base.manualTrigger' },
			{
				name: 'Address',
				type: TRIGGER.replace(/Trigger$/, ''),
				parameters: { resource: 'notification', operation: 'getAddress' },
			},
		]);
		const saved = await n8n.rest.createWorkflow({
			name: 'listening',
			nodes: [...workflow.nodes, ...checked.nodes],
			connections: { ...workflow.connections, ...checked.connections },
		});
		const check = async (): Promise<unknown> =>
			(await n8n.rest.run(saved.id, 'By hand')).items('Address').map(({ json }) => json);
		const url = `${n8n.url}/webhook/notices-listening/digital-sales`;

		expect(await check()).toMatchObject([{ trigger: 'Listening', url, listening: 'no' }]);
		await n8n.rest.publish(saved);
		expect(await check()).toEqual([{ trigger: 'Listening', url, listening: 'yes', advice: null }]);
		const hash = await chargeAt(n8n.sandbox);
		await pay(hash);
		expect(await post(url, { hash })).toBe(200);
		expect(await downstream.reaches(1)).toBe(1);
	});

	test('JSON of a content type that n8n leaves unread', async () => {
		const url = addressOf('shapes');
		const large = JSON.stringify({ filler: 'x'.repeat(300_000) });
		const types = [undefined, 'application/octet-stream', 'application/vnd.shop+json'];
		for (const [index, type] of types.entries()) {
			const hash = await chargeAt(n8n.sandbox);
			await pay(hash);
			const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };

			expect((await sendRequest(url, { headers, body: JSON.stringify({ hash }) })).status).toBe(
				200,
			);
			expect((await sendRequest(url, { headers, body: large })).status).toBe(413);
			expect(await downstream.reaches(index + 1)).toBe(index + 1);
		}
	});

	test(`${FLOOD} identical notices at the same moment`, async () => {
		const url = addressOf('identical');
		const hash = await chargeAt(n8n.sandbox);
		await pay(hash);

		const notice = { hash, payment_status: 'paid' };
		const first = await Promise.all(
			Array.from({ length: FLOOD }, async () => {
				const status = await post(url, notice);
				// As a service does that repeats what was not taken.
				for (let answer = status; answer !== 200; answer = await post(url, notice)) {
					await pause(RESEND_MS);
				}
				return status;
			}),
		);

		expect(await downstream.reaches(1)).toBe(1);
		figures.add(
			'identical notices at the same moment',
			first.length,
			`${downstream.reports.length} execution (at first ${summary(first)}, all taken in the end)`,
		);
	}, 180_000);

	test(`${FLOOD} distinct notices at the same moment`, async () => {
		const url = addressOf('distinct');
		const hashes: string[] = [];
		while (hashes.length < FLOOD) hashes.push(await chargeAt(n8n.sandbox, url));

		const reports = await Promise.all(hashes.map(async (hash) => await n8n.sandbox.pay(hash)));

		// What is turned away four times comes again after three more minutes.
		expect(await downstream.reaches(FLOOD, 240_000)).toBe(FLOOD);
		expect(new Set(downstream.reports.map(({ hash }) => hash)).size).toBe(FLOOD);
		const first = reports.map(([report]) => report?.status ?? 0);
		figures.add(
			'distinct notices at the same moment',
			hashes.length,
			`${downstream.reports.length} executions, one each (at first ${summary(first)})`,
		);
	}, 300_000);

	test('random bodies', async () => {
		const url = addressOf('random');
		const bodies = bodiesLike(await soldAt(n8n.sandbox));
		const statuses: number[] = [];
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(bodies, contentTypes), { minLength: BATCH, maxLength: BATCH }),
				async (notices) => {
					const answers = await Promise.all(
						notices.map(async ([body, type]) => {
							const headers = { 'content-type': type };
							return (await sendRequest(url, { body: Buffer.from(body), headers })).status;
						}),
					);
					statuses.push(...answers);
					// 422 is n8n's own answer to broken JSON.
					expect(answers.filter((status) => ![400, 404, 422, 503].includes(status))).toEqual([]);
				},
			),
			{ numRuns: BODIES / BATCH, seed: SEED },
		);

		expect(statuses).toHaveLength(BODIES);
		expect(await downstream.reaches(0)).toBe(0);
		figures.add(
			`random bodies, seed ${SEED}`,
			statuses.length,
			`all answered (${summary(statuses)}), 0 executions`,
		);
	}, 300_000);

	test('the service is down and comes back, the notices are re-sent', async () => {
		const url = addressOf('down');
		const hashes: string[] = [];
		while (hashes.length < 20) hashes.push(await chargeAt(n8n.sandbox, url));
		n8n.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 503,
			times: 'always',
		});
		await Promise.all(hashes.map(async (hash) => await n8n.sandbox.pay(hash)));
		expect(await downstream.reaches(0)).toBe(0);
		n8n.sandbox.clearFaults();

		expect(await downstream.reaches(hashes.length)).toBe(hashes.length);
		expect(new Set(downstream.reports.map(({ hash }) => hash)).size).toBe(hashes.length);
		figures.add(
			'the service down, then up, notices re-sent',
			hashes.length,
			`${downstream.reports.length} executions, one each, after ${n8n.sandbox.deliveries.length} deliveries`,
		);
	});

	// Last, because it takes n8n down.
	test('a restart between two identical notices', async () => {
		const url = addressOf('restart');
		const hashes = await chargesAt(n8n.sandbox, 20);
		await Promise.all(hashes.map(pay));
		const notify = async (): Promise<number[]> =>
			await Promise.all(
				hashes.map(async (hash) => await post(url, { hash, payment_status: 'paid' })),
			);
		await notify();
		expect(await downstream.reaches(hashes.length)).toBe(hashes.length);

		await n8n.restart();
		let again = await notify();
		while (again.includes(404)) {
			await pause(250);
			again = await notify();
		}

		expect(again.every((status) => status === 200)).toBe(true);
		expect(await downstream.reaches(hashes.length)).toBe(hashes.length);
		figures.add(
			'a restart between two identical notices',
			hashes.length,
			`${downstream.reports.length} executions, one each`,
		);
	}, 120_000);
});
