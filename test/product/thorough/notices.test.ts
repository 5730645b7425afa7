import * as fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { serveWebhook, type HttpAnswer, type PublishedTrigger } from '../engine/harness';
import { type Account, openAccount } from '../engine/support/account';
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
			account.fault('read', { ...fault }, 'always');
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
});
