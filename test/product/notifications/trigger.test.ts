import * as fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { serveWebhook, type HttpAnswer, type PublishedTrigger } from '../engine/harness';
import { openAccount, type Account } from '../engine/support/account';
import { NOTICE_SHAPES, type Fault, type SandboxOptions } from '../../sandbox';
import { chargeAt, chargesAt, soldAt } from '../../support/charge';
import { Figures } from '../../support/figures';
import { bodiesLike, contentTypes, forgers, valuesFor } from '../../support/notices';

const figures = new Figures(
	"Notices to the trigger, in n8n's own engine",
	'npm run e2e -- thorough',
);
const BODIES = 10_000;
const BATCH = 50;
const SEED = Number(process.env.NOTICE_SEED ?? 20_261_120);

describe('Digital Sales Trigger under attack, races and loss', () => {
	let account: Account;
	let trigger: PublishedTrigger;

	afterEach(async () => {
		await trigger.settled();
		trigger.stopListening();
		expect(trigger.thrown).toEqual([]);
		await account.sandbox.close();
	});
	afterAll(() => figures.show());

	const open = async (parameters: INodeParameters, options?: SandboxOptions): Promise<void> => {
		account = await openAccount(options);
		account.reset();
		trigger = await serveWebhook({ credentials: account.credentials, parameters });
	};
	const pay = async (hash: string): Promise<void> => await account.sandbox.setStatus(hash, 'paid');
	const statusesOf = (answers: HttpAnswer[]): string =>
		[...new Set(answers.map(({ status }) => status))]
			.sort()
			.map((status) => `${answers.filter((one) => one.status === status).length} × ${status}`)
			.join(', ');

	test('all shapes × JSON types', async () => {
		await open({ triggerOn: ['paid'] });
		let runs = 0;
		let right = 0;
		for (const forge of forgers(await soldAt(account.sandbox))) {
			const hash = await chargeAt(account.sandbox);
			await pay(hash);
			for (const { value, isRight } of valuesFor(hash)) {
				const before = trigger.executions.length;
				const answer = await trigger.post(forge(value, 'paid'));
				runs += 1;
				right += isRight ? 1 : 0;
				expect(trigger.executions.length - before).toBe(isRight ? 1 : 0);
				expect(isRight ? [200] : [400, 404]).toContain(answer.status);
			}
			for (const { value } of valuesFor('paid')) {
				const other = await chargeAt(account.sandbox);
				await pay(other);
				const answer = await trigger.post(forge(other, value));
				runs += 1;
				right += 1;
				expect(answer.status).toBe(200);
				expect(trigger.executions.at(-1)?.[0]?.json).toMatchObject({ hash: other });
			}
		}
		expect(trigger.executions).toHaveLength(right);
		figures.add(
			`${NOTICE_SHAPES.length} shapes × JSON types for the hash and for the status`,
			runs,
			`${right} with a right hash: ${trigger.executions.length} executions; the rest 400 or 404`,
		);
	});

	test('200 identical notices at the same moment', async () => {
		await open({ triggerOn: ['paid'] });
		const hash = await chargeAt(account.sandbox);
		await pay(hash);

		const answers = await Promise.all(
			Array.from({ length: 200 }, async () => await trigger.post({ hash, payment_status: 'paid' })),
		);

		expect(trigger.executions).toHaveLength(1);
		figures.add(
			'identical notices at the same moment',
			answers.length,
			`${trigger.executions.length} execution (${statusesOf(answers)})`,
		);
	});

	test('200 distinct notices at the same moment', async () => {
		await open({ triggerOn: ['paid'] });
		const hashes = await chargesAt(account.sandbox, 200);
		await Promise.all(hashes.map(pay));

		const answers: HttpAnswer[] = [];
		await Promise.all(
			hashes.map(async (hash) => {
				for (;;) {
					const answer = await trigger.post({ transaction_hash: hash, status: 'paid' });
					answers.push(answer);
					if (answer.status === 200) return;
					await new Promise((resolve) => setTimeout(resolve, 200));
				}
			}),
		);

		const emitted = new Set(trigger.executions.map(([item]) => item?.json.hash));
		expect(trigger.executions).toHaveLength(200);
		expect(emitted.size).toBe(200);
		figures.add(
			'distinct notices at the same moment',
			answers.length,
			`${trigger.executions.length} executions (${statusesOf(answers)})`,
		);
	});

	test('forged notices', async () => {
		await open({ triggerOn: ['paid'] });
		const hashes = await chargesAt(account.sandbox, 100);
		const unpaid = await Promise.all(
			hashes.map(async (hash) => await trigger.post({ hash, payment_status: 'paid' })),
		);
		const unknown = await Promise.all(
			hashes.map(async (_, nth) => await trigger.post({ hash: `forged${nth}`, status: 'paid' })),
		);

		expect(trigger.executions).toEqual([]);
		figures.add(
			'forged: a real hash with a false status',
			unpaid.length,
			`0 executions (${statusesOf(unpaid)})`,
		);
		figures.add('forged: an unknown hash', unknown.length, `0 executions (${statusesOf(unknown)})`);
	});

	test('forged notices, whatever the service answers', async () => {
		await open({ triggerOn: ['paid'] });
		const faults: Fault[] = [
			...[403, 422, 500].map((status) => ({ kind: 'status' as const, status, body: {} })),
			{ kind: 'successFalse' },
			{ kind: 'emptyBody' },
			{ kind: 'html' },
		];
		const reads: number[] = [];
		for (const fault of faults) {
			account.reset();
			account.sandbox.addFault({
				endpoint: 'GET /transactions/{hash}',
				...fault,
				times: 'always',
			});
			const forged = Array.from({ length: 600 }, (_, nth) => `forged${nth}`);
			await Promise.all(forged.map(async (hash) => await trigger.post({ hash, status: 'paid' })));
			reads.push(account.sandbox.requests.length);
		}

		expect(trigger.executions).toEqual([]);
		expect(Math.min(...reads)).toBeGreaterThan(0);
		expect(Math.max(...reads)).toBeLessThanOrEqual(30);
		figures.add(
			'forged: an unknown hash, answered with 403, 422, 500, `success: false`, nothing or a web page',
			faults.length * 600,
			`0 executions, at most ${Math.max(...reads)} reads of each 600`,
		);
	});

	test('a restart between two identical notices', async () => {
		await open({ triggerOn: ['paid'] });
		const hashes = await chargesAt(account.sandbox, 20);
		for (const hash of hashes) {
			await pay(hash);
			await trigger.post({ hash, payment_status: 'paid' });
			await trigger.restart();
			await trigger.post({ hash, payment_status: 'paid' });
		}

		expect(trigger.executions).toHaveLength(hashes.length);
		figures.add(
			'a restart between two identical notices',
			hashes.length,
			`${trigger.executions.length} executions, one each`,
		);
	});

	test('random bodies', async () => {
		await open({ triggerOn: ['any'] });
		const bodies = bodiesLike(await soldAt(account.sandbox));
		const codes = new Map<number, number>();
		let sent = 0;
		const post = async ([body, type]: [string, string]): Promise<number> => {
			const headers = { 'content-type': type };
			return (await trigger.send({ body: Buffer.from(body), headers })).status;
		};
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(bodies, contentTypes), { minLength: BATCH, maxLength: BATCH }),
				async (notices) => {
					const statuses = await Promise.all(notices.map(post));
					sent += statuses.length;
					for (const status of statuses) codes.set(status, (codes.get(status) ?? 0) + 1);
					expect(statuses.every((status) => [400, 404, 422, 503].includes(status))).toBe(true);
				},
			),
			{ numRuns: BODIES / BATCH, seed: SEED },
		);

		expect(sent).toBe(BODIES);
		expect(trigger.executions).toEqual([]);
		const answered = [...codes].sort(([a], [b]) => a - b);
		figures.add(
			`random bodies, seed ${SEED}`,
			sent,
			`all answered (${answered.map(([code, count]) => `${count} × ${code}`).join(', ')}), 0 thrown, 0 executions`,
		);
	});

	test('the service is down and comes back, the notices are re-sent', async () => {
		await open({ triggerOn: ['paid'] }, { clockScale: 50 });
		const hashes: string[] = [];
		while (hashes.length < 20) hashes.push(await chargeAt(account.sandbox, trigger.url));
		account.sandbox.addFault({
			endpoint: 'GET /transactions/{hash}',
			kind: 'status',
			status: 503,
			times: 'always',
		});
		const [first] = await Promise.all(hashes.map(async (hash) => await account.sandbox.pay(hash)));
		expect(first?.[0]?.status).toBe(503);
		expect(trigger.executions).toEqual([]);
		account.sandbox.clearFaults();

		while (account.sandbox.deliveries.some(isLast)) {
			await new Promise((resolve) => setTimeout(resolve, 20));
		}

		const emitted = new Set(trigger.executions.map(([item]) => item?.json.hash));
		expect(emitted.size).toBe(hashes.length);
		expect(trigger.executions).toHaveLength(hashes.length);
		figures.add(
			'the service down, then up, notices re-sent',
			hashes.length,
			`${trigger.executions.length} executions, one each, after ${account.sandbox.deliveries.length} deliveries`,
		);

		/** Whether a further attempt is still to come for this notice. */
		function isLast({
			hash,
			attempt,
			nextAttemptAt,
		}: {
			hash: string;
			attempt: number;
			nextAttemptAt: number | null;
		}): boolean {
			return (
				nextAttemptAt !== null &&
				!account.sandbox.deliveries.some((later) => later.hash === hash && later.attempt > attempt)
			);
		}
	});
});
