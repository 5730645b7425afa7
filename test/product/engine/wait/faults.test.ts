import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../../sandbox';
import { everythingIn } from '../harness';
import { received, useWaitingRoom } from '../support/waiting';
import { useLimits } from '../support/account';

describe('Transaction > Wait for Payment: what goes wrong', () => {
	const limit = useLimits();
	const room = useWaitingRoom();

	const seconds = (count: number): Promise<void> => clock.sleep(count * 1_000);

	describe('at the first look', () => {
		test.each<[string, Fault]>([
			['has a fault', { kind: 'status', status: 500 }],
			['does not know the charge yet', { kind: 'status', status: 404, body: {} }],
			['says so under a 200', { kind: 'successFalse' }],
			['asks whether it is human', { kind: 'html', status: 403 }],
			['answers about another one', { kind: 'patchBody', set: { hash: 'other1' } }],
		])('waits on while the service %s', async (_name, fault) => {
			const hash = await room.charge();
			room.account.sandbox.addFault({ ...fault, times: 'always' });
			const run = await room.wait([hash]);

			expect(run.status).toBe('waiting');
			expect(run.hints).toMatchObject([
				{ message: expect.stringMatching(/checks again while the execution waits/) },
			]);
			room.account.sandbox.clearFaults();
			await room.settle([hash]);

			expect(received(await run.parked?.finished)).toMatchObject([{ hash, timedOut: false }]);
		});

		test('suspends soon with 30 payments even if each read is answered 429', async () => {
			const hashes = Array.from({ length: 30 }, (_, nth) => `hash${nth}`);
			room.account.sandbox.addFault({ kind: 'retryAfter', seconds: 5, times: 'always' });
			const startedAt = clock.elapsed();

			const run = await room.wait(hashes);

			expect(run.status).toBe('waiting');
			expect(clock.elapsed() - startedAt).toBeLessThan(60_000);
		});

		test('suspends at once, and sends nothing, while the rate limit is closed for longer', async () => {
			const hash = await room.charge();
			room.account.sandbox.addFault({ kind: 'retryAfter', seconds: 200, times: 1 });
			const get = { resource: 'transaction', operation: 'get', transactionHash: hash };
			limit({ maxTotalMs: 0 });
			await room.account.fail(get);
			const reads = room.reads();

			const run = await room.wait([hash]);

			expect(run.status).toBe('waiting');
			expect(run.hints).toMatchObject([
				{ message: expect.stringMatching(/checks again while the execution waits/) },
			]);
			expect(room.reads()).toBe(reads);
		});

		test('an item that never could be read shows its hash at the limit', async () => {
			const hash = await room.charge();
			room.account.sandbox.addFault({ kind: 'status', status: 500, times: 'always' });
			const parked = await room.park([hash], { seconds: 3, parameters: { simplify: false } });

			expect(received(await parked.finished)).toEqual([{ paid: false, hash, timedOut: true }]);
		});

		test.each([
			['a wrong token', 401],
			['a request that it refuses', 422],
		])('fails at once for %s', async (_name, status) => {
			const hash = await room.charge();
			room.account.sandbox.addFault({ kind: 'status', status, body: {}, times: 'always' });

			const run = await room.wait([hash]);

			expect(run.status).toBe('error');
			expect(run.error?.message).toContain(String(status));
		});

		/** Parks a payment beside one that the service refuses to read, and has it become paid. */
		const parkBesideRefused = async (onError: string) => {
			const hash = await room.charge();
			room.account.sandbox.addFault({ kind: 'status', status: 422, body: {} });
			const parked = await room.park(['nosuch1', hash], { settings: { onError } });
			await room.settle([hash]);
			const notify = async () => (await parked.resumeByWebhook({ hash, status: 'paid' })).outcome;
			return { hash, parked, notify };
		};

		test('with On Error: Continue the other items still wait', async () => {
			const { hash, notify } = await parkBesideRefused('continueRegularOutput');

			expect(received(await notify())).toMatchObject([
				{ error: { message: expect.stringMatching(/422/), status: 422, outcome: 'refused' } },
				{ hash, timedOut: false },
			]);
		});

		test.each(['notice', 'limit'])(
			'an error output gets the failed item at the %s',
			async (end) => {
				const { hash, parked, notify } = await parkBesideRefused('continueErrorOutput');

				const outcome = end === 'limit' ? await parked.resumeAtTimeLimit() : await notify();

				const [regular, failed] = outcome?.data.Wait?.outputs ?? [];
				expect(regular?.map(({ json }) => json.hash)).toEqual([hash]);
				expect(failed?.map(({ json }) => json.error)).toMatchObject([
					{ message: expect.stringMatching(/422/), about: 'transaction nosuch1' },
				]);
			},
		);
	});

	test('a payment that was noticed is asked for until it was read, even if the sender does not come again', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await seconds(10);
		await room.settle([hash]);
		room.account.sandbox.addFault({ kind: 'status', status: 500, times: 'always' });
		const refused = await parked.resumeByWebhook({ hash, status: 'paid' });
		await seconds(40);
		room.account.sandbox.clearFaults();
		const rightAt = clock.elapsed();

		const end = await parked.finished;

		expect(refused.answer.status).toBe(503);
		expect(Number(refused.answer.headers['retry-after'])).toBeGreaterThan(0);
		expect(refused.outcome).toBeUndefined();
		expect(received(end)).toMatchObject([{ hash, paid: true, timedOut: false }]);
		expect(clock.elapsed() - rightAt).toBeLessThan(20_000);
	});

	test('after a restart the next notice is taken, and brings the re-check back', async () => {
		const [first, second] = [await room.charge(), await room.charge()];
		const parked = await room.park([first, second]);
		room.forget();
		await room.settle([first]);

		const notice = await parked.resumeByWebhook({ hash: first, status: 'paid' });
		await room.settle([second]);

		expect(notice.answer).toMatchObject({ status: 200, json: { waiting: true } });
		expect(received(await parked.finished)).toMatchObject([
			{ hash: first, timedOut: false },
			{ hash: second, timedOut: false },
		]);
	});

	test('cancelling stops the first look as well', async () => {
		const hash = await room.charge();
		const headers = { 'retry-after': '10' };
		room.account.sandbox.addFault({ kind: 'status', status: 503, headers, times: 'always' });
		const running = room.wait([hash]);
		await seconds(2);
		running.cancel();

		const { parked, error } = await running;
		expect(parked).toBeUndefined();
		expect(error?.message).toBe('The execution was canceled');
	});

	describe('hostile requests', () => {
		test.each([
			['an empty body', '', 400],
			['another transaction', '{"hash":"other1"}', 404],
			['a forged ping', '{"pingedWait":"1"}', 410],
			['a ping with a number', '{"pingedWait":1}', 400],
			['a prototype', '{"__proto__":{"hash":"x"}}', 400],
		])('%s is answered and asks nothing', async (_name, body, status) => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			const reads = room.reads();
			const headers = { 'content-type': 'application/json' };

			const { answer, outcome } = await parked.send({ headers, body });

			expect(answer.status).toBe(status);
			expect(outcome).toBeUndefined();
			expect(room.reads()).toBe(reads);
		});

		test('a flood of notices costs one look', async () => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			const reads = room.reads();
			const startedAt = clock.now();

			const notices = Array.from({ length: 40 }, async () => {
				const { answer } = await parked.resumeByWebhook({ hash, status: 'paid' });
				return answer.status;
			});
			const statuses = await Promise.all(notices);

			// One more is the poll a moment after each suspension.
			const pauses = Math.floor((clock.now() - startedAt) / 3_000);
			expect(room.reads() - reads).toBeLessThanOrEqual(2 + pauses);
			expect(new Set(statuses)).toEqual(new Set([503]));
			expect(parked.legs).toBe(1);
		});
	});

	test('a missing credential keeps it suspended, and the log says what went wrong', async () => {
		const hash = await room.charge();
		const credentials = { ...room.account.credentials };
		const { parked, logs } = await room.wait([hash], { credentials });
		Reflect.deleteProperty(credentials, 'digitalSalesApi');

		const resumption = await parked?.resumeByWebhook({ hash, status: 'paid' });

		expect(resumption?.answer.status).toBe(503);
		expect(resumption?.outcome).toBeUndefined();
		const [logged] = logs.filter(({ level }) => level === 'error');
		expect(logged?.text).toMatch(/waiting execution could not be handled.*Error/);

		Object.assign(credentials, room.account.credentials);
		await room.settle([hash]);
		await parked?.resumeByWebhook({ hash, status: 'paid' });
		expect(received(await parked?.finished)).toMatchObject([{ hash, timedOut: false }]);
	});

	test('shows no token in what n8n keeps or logs', async () => {
		const hash = await room.charge();
		room.account.sandbox.addFault({ kind: 'echoRequest', times: 'always' });
		const parked = await room.park([hash], { seconds: 3 });

		const end = await parked.finished;

		expect(everythingIn(end)).not.toContain(room.account.sandbox.apiToken);
	});
});
