import { ExecuteContext } from 'n8n-core';
import type { IExecuteData } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { everythingIn } from '../../helpers/engine';
import { leftBy, received, useWaitingRoom } from '../../helpers/waiting';

const MINUTE_MS = 60_000;

describe('Transaction > Wait for Payment: what goes wrong', () => {
	const room = useWaitingRoom();

	afterEach(() => jest.restoreAllMocks());

	const minutes = async (count: number): Promise<void> => await clock.sleep(count * MINUTE_MS);
	const always = (fault: Fault): void => room.account.fault('read', fault, 'always');

	test.each<[string, Fault]>([
		['has a fault', { kind: 'status', status: 500 }],
		['does not know the charge yet', { kind: 'status', status: 404, body: {} }],
		['says under a 200 that it does not know the charge', { kind: 'successFalse' }],
		['asks whether the caller is human', { kind: 'html', status: 403 }],
		['returns another transaction', { kind: 'patchBody', set: { hash: 'other1' } }],
		['breaks off its answer', { kind: 'truncatedBody' }],
	])('goes on waiting while the platform %s', async (_name, fault) => {
		const hash = await room.charge();
		always(fault);
		const run = await room.wait([hash]);
		expect(run.status).toBe('waiting');
		room.account.sandbox.clearFaults();
		await room.setStatus([hash]);

		expect(received(await run.parked?.finished)).toMatchObject([{ hash, paid: true }]);
		expect(room.lookMinutes(hash)).toHaveLength(2);
	});

	test.each([
		['a wrong token', 401],
		['a request that the platform refuses', 422],
	])('the first look fails at once for %s', async (_name, status) => {
		const hash = await room.charge();
		always({ kind: 'status', status, body: {} });

		const run = await room.wait([hash]);

		expect(run.status).toBe('error');
		expect(run.error?.message).toContain(String(status));
	});

	test.each([401, 404])(
		'after a read of the payment, no later look fails (%i), because a person may be fixing the problem',
		async (status) => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			always({ kind: 'status', status, body: {} });
			await minutes(60);
			room.account.sandbox.clearFaults();
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		},
	);

	test('a payment that was read as paid stays paid even if its form cannot be read at one look', async () => {
		const [paid, open] = [await room.charge(), await room.charge()];
		await room.setStatus([paid]);
		const startedAt = Date.now();
		const [from, until] = [startedAt + 30_000, startedAt + 100_000];
		const parked = await room.park([paid, open], {
			minutes: 3,
			settings: { onError: 'continueRegularOutput' },
			parameters: {
				transactionHash:
					'={{ $itemIndex === 0 && $now.toMillis() > $json.from && $now.toMillis() < $json.until ? "" : $json.hash }}',
			},
			startItems: [paid, open].map((hash) => ({ hash, from, until })),
		});
		await minutes(1.7);
		always({ kind: 'status', status: 503 });

		expect(received(await parked.finished)?.[0]).toMatchObject({ hash: paid, paid: true });
	});

	describe('a hash that the platform does not know', () => {
		test('fails after 15 minutes, with the words of Transaction > Get', async () => {
			const get = { resource: 'transaction', operation: 'get', transactionHash: 'nosuch1' };
			const { message, description } = await room.account.fail(get);

			const end = await (await room.park(['nosuch1'])).finished;

			expect(end.status).toBe('error');
			expect(end.error).toMatchObject({ message, description });
			const lastAt = room.lookMinutes('nosuch1').at(-1) ?? NaN;
			expect(lastAt).toBeGreaterThanOrEqual(15);
			expect(lastAt).toBeLessThan(40);
		});

		test('fails at the time limit if that comes first', async () => {
			const end = await (await room.park(['nosuch1'], { minutes: 4 })).finished;

			expect(end.status).toBe('error');
			expect(room.lookMinutes('nosuch1').at(-1)).toBeCloseTo(4, 1);
		});

		test.each([
			['continueRegularOutput', 'Not Paid', 0],
			['continueErrorOutput', 'the error output', 2],
		] as const)(
			'does not hold up other items under %s, and leaves by %s',
			async (onError, _output, index) => {
				const hash = await room.charge();
				const parked = await room.park(['nosuch1', hash], { settings: { onError } });
				await room.setStatus([hash]);

				const end = await parked.finished;

				const outputs = leftBy(end) ?? [];
				expect(outputs[1]).toMatchObject([{ hash, paid: true }]);
				expect(outputs.map(({ length }) => length)).toEqual(index === 0 ? [1, 1] : [0, 1, 1]);
				expect(outputs[index]).toMatchObject([
					{ error: { status: 404, about: 'transaction nosuch1' } },
				]);
				expect(room.lookMinutes('nosuch1').at(-1)).toBeLessThan(40);
			},
		);

		test('does not fail if it appears within 15 minutes', async () => {
			const hash = await room.charge();
			always({ kind: 'status', status: 404, body: {} });
			const parked = await room.park([hash]);
			await minutes(8);
			room.account.sandbox.clearFaults();
			await minutes(60);
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		});

		test('does not fail if other errors came between two 404s', async () => {
			const hash = await room.charge();
			const unknown = { kind: 'status', status: 404, body: {} } as const;
			room.account.fault('read', unknown, 1);
			const parked = await room.park([hash]);
			// 503 for more than half an hour, and then once 404.
			room.account.fault('read', { kind: 'status', status: 503 }, 5);
			room.account.fault('read', unknown, 1);
			await minutes(90);
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		});
	});

	test('a Retry with another hash starts a new wait for that hash', async () => {
		const [paid, open, right] = [await room.charge(), await room.charge(), await room.charge()];
		const startItems = [
			{ wrong: paid, right: open },
			{ wrong: 'nosuch1', right },
		];
		const wait = async (field: string, more = {}) =>
			await room.wait([], {
				...{ startItems, ...more },
				parameters: { transactionHash: `={{ $json.${field} }}` },
			});
		await room.setStatus([paid, right]);
		const failed = await (await wait('wrong')).parked?.finished;

		const retry = await wait('right', { retryOf: failed?.run.data });

		expect([failed?.status, retry.status]).toEqual(['error', 'waiting']);
		await room.setStatus([open]);
		expect(received(await retry.parked?.finished)).toMatchObject([
			{ hash: open, paid: true },
			{ hash: right, paid: true },
		]);
	});

	test('a Retry hours after the end looks again if its first read fails', async () => {
		const hash = await room.charge();
		always({ kind: 'status', status: 503 });
		const parked = await room.park([hash], { minutes: 4 });
		await minutes(4.5);
		room.account.sandbox.clearFaults();
		room.account.fault('read', { kind: 'status', status: 404, body: {} });
		const failed = await parked.finished;
		await minutes(120);
		await room.setStatus([hash]);
		room.account.fault('read', { kind: 'status', status: 503 });

		const retry = await room.wait([hash], { minutes: 4, retryOf: failed.run.data });

		expect([failed.status, retry.status]).toEqual(['error', 'waiting']);
		expect(received(await retry.parked?.finished)).toMatchObject([{ hash, paid: true }]);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'])(
		'a look that fails, and is open in the try that follows, goes on waiting (%s)',
		async (onError) => {
			const hash = await room.charge();
			room.account.fault('read', { kind: 'status', status: 500 });
			const run = await room.park([hash], { settings: { onError, retryOnFail: true } });
			room.forget();
			room.account.fault('read', { kind: 'status', status: 422, body: {} });
			await minutes(4);
			await room.setStatus([hash]);

			expect(received(await run.finished)).toMatchObject([{ hash, paid: true }]);
		},
	);

	test('Retry On Fail does not restart the wait for an item that has failed', async () => {
		const hash = await room.charge();
		const settings = { onError: 'continueRegularOutput', retryOnFail: true, maxTries: 3 };
		const parked = await room.park(['nosuch1', hash], { settings });
		await room.setStatus([hash]);

		const end = await parked.finished;

		expect(received(end)).toMatchObject([{ hash, paid: true }, { error: { status: 404 } }]);
		expect(room.lookMinutes('nosuch1').at(-1)).toBeLessThan(40);
	});

	test('under On Error: Continue a payment that the platform refuses to read does not hold up other payments', async () => {
		const hash = await room.charge();
		const refusal = { kind: 'status', status: 422, body: {} } as const;
		jest.spyOn(clock, 'random').mockReturnValue(0.5);
		// The first read of each look.
		for (let after = 0; after < 6; after += 2) room.account.fault('read', { ...refusal, after }, 1);
		const settings = { onError: 'continueRegularOutput' };
		const parked = await room.park(['bad1', hash], { settings });
		await minutes(1.5);
		await room.setStatus([hash]);

		expect(received(await parked.finished)).toMatchObject([
			{ hash, paid: true },
			{ error: { status: 422, about: 'transaction bad1' } },
		]);
		expect(room.lookMinutes(hash).at(-1)).toBeLessThan(4);
	});

	test('canceling the execution stops the look', async () => {
		const hash = await room.charge();
		always({ kind: 'delay', ms: 10_000 });
		const running = room.wait([hash]);
		await clock.sleep(2_000);
		running.cancel();

		const { parked, status } = await running;
		expect([parked, status]).toEqual([undefined, 'canceled']);
	});

	describe('a credential that cannot be loaded', () => {
		/** Parks an execution, and takes its credential away. */
		const parkWithout = async () => {
			const hash = await room.charge();
			const credentials = { ...room.account.credentials };
			const options = { credentials, minutes: 10 };
			const parked = await room.park([hash], options);
			Reflect.deleteProperty(credentials, 'digitalSalesApi');
			const restore = (): object => Object.assign(credentials, room.account.credentials);
			return { hash, parked, options, restore };
		};

		test('at one look does not end the wait', async () => {
			const { hash, parked, restore } = await parkWithout();

			const { answer, outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });
			restore();
			await room.setStatus([hash]);

			expect([answer.status, outcome?.status]).toEqual([200, 'waiting']);
			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
			expect(room.lookMinutes(hash).at(-1)).toBeLessThan(3);
		});

		test('at a webhook five seconds before the limit leaves the platform a minute to show the payment', async () => {
			const { hash, parked, restore } = await parkWithout();
			await minutes(10 - 5 / 60);
			await parked.resumeByWebhook({ hash, status: 'paid' });
			restore();
			await clock.sleep(30_000);
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		});

		test('until the end fails with the reason, and a Retry continues the wait', async () => {
			const { hash, parked, options, restore } = await parkWithout();
			const startedAt = clock.elapsed();

			const end = await parked.finished;

			expect(end.error?.message).toMatch(/Credential of type "digitalSalesApi" does not exist/);
			expect((clock.elapsed() - startedAt) / MINUTE_MS).toBeCloseTo(25, 0);
			restore();
			await room.setStatus([hash]);
			const retry = await room.wait([hash], { ...options, retryOf: end.run.data });
			expect(received(retry)).toMatchObject([{ hash, paid: true }]);
		});
	});

	describe('a token that the platform refuses at the last reads', () => {
		const refusal = (status: number): Fault => ({ kind: 'status', status, body: {} });

		test.each([401, 403])(
			'(%s) ends the wait with that error, and a Retry continues it',
			async (status) => {
				const hash = await room.charge();
				const parked = await room.park([hash], { minutes: 10 });
				await room.setStatus([hash]);
				always(refusal(status));

				const end = await parked.finished;

				expect([end.status, received(end)]).toEqual(['error', undefined]);
				expect(end.error?.message).toMatch(new RegExp(`API token.*\\(${status}\\)`));
				expect(room.lookMinutes(hash).at(-1)).toBeCloseTo(25, 0);
				room.account.sandbox.clearFaults();
				const retry = await room.wait([hash], { minutes: 10, retryOf: end.run.data });
				expect(leftBy(retry)).toMatchObject([[], [{ hash, paid: true }]]);
			},
		);

		test.each<Fault>([
			{ kind: 'status', status: 503 },
			{ kind: 'retryAfter', seconds: 60 },
		])('ends the wait with an error, although the last one gets %j', async (last) => {
			const parked = await room.park([await room.charge()], { minutes: 10 });
			await minutes(9.5);
			always(refusal(401));
			await minutes(14.5);
			room.account.sandbox.clearFaults();
			always(last);

			const end = await parked.finished;

			expect([end.status, received(end)]).toEqual(['error', undefined]);
		});

		test('does not count once a read has succeeded', async () => {
			const hash = await room.charge();
			const parked = await room.park([hash], { minutes: 10 });
			room.account.fault('read', refusal(401));
			await minutes(9);
			always({ kind: 'status', status: 503 });

			expect(received(await parked.finished)).toMatchObject([{ hash, timed_out: true }]);
		});

		test('leaves payments that were decided before to their outputs', async () => {
			const [paid, expired, open] = [await room.charge(), await room.charge(), await room.charge()];
			await room.setStatus([paid]);
			await room.setStatus([expired], 'expired');
			const settings = { onError: 'continueErrorOutput' };
			const parked = await room.park([paid, expired, open], { minutes: 10, settings });
			await minutes(3);
			await room.setStatus([open]);
			always(refusal(401));

			expect(leftBy(await parked.finished)).toMatchObject([
				[{ hash: expired, paid: false }],
				[{ hash: paid, paid: true }],
				[{ error: { status: 401, about: `transaction ${open}` } }],
			]);
		});
	});

	test('a form that can no longer be read fails the next look with the reason', async () => {
		const hash = await room.charge();
		const transactionHash = '={{ $now.toMillis() > $json.until ? "" : $json.hash }}';
		const parked = await room.park([hash], {
			parameters: { transactionHash },
			startItems: [{ hash, until: Date.now() + 30_000 }],
		});

		expect((await parked.finished).error?.message).toMatch(/^Transaction Hash is empty/);
	});

	test('the node refuses to wait in an n8n that keeps the input of a node elsewhere', async () => {
		const hash = await room.charge();
		const entry = { data: {}, source: null } as unknown as IExecuteData;
		jest.spyOn(ExecuteContext.prototype, 'getExecuteData').mockReturnValue(entry);
		const run = await room.wait([hash]);
		jest.restoreAllMocks();

		expect(run.status).toBe('error');
		expect(run.error?.message).toMatch(/cannot wait in this version of n8n/);
	});

	test('shows no token in what n8n keeps or logs', async () => {
		const hash = await room.charge();
		always({ kind: 'echoRequest' });
		const parked = await room.park([hash], { minutes: 3 });
		expect(JSON.stringify(parked.stored)).not.toContain(room.account.sandbox.apiToken);

		expect(everythingIn(await parked.finished)).not.toContain(room.account.sandbox.apiToken);
	});
});
