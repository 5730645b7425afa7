import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { type StoredRun, webServer } from '../../helpers/engine';
import { received, useWaitingRoom } from '../../helpers/waiting';

const MINUTE_MS = 60_000;

/** Minutes between looks. */
function pausesBetween(looks: number[]): number[] {
	return looks.slice(1).map((at, nth) => at - (looks[nth] ?? 0));
}

/** Each pause is the minutes, or a tenth more at most. */
function expectPauses(looks: number[], minutes: number[]): void {
	const pauses = pausesBetween(looks);
	expect(pauses).toHaveLength(minutes.length);
	for (const [nth, pause] of pauses.entries()) {
		expect(pause).toBeGreaterThanOrEqual((minutes[nth] ?? NaN) - 0.01);
		expect(pause).toBeLessThanOrEqual((minutes[nth] ?? NaN) * 1.1 + 0.01);
	}
}

/** Each pause is a random part of this share of the age of the wait, within these minutes. */
function expectGrowing(looks: number[], share: number, shortest: number, longest: number): void {
	for (const [nth, pause] of pausesBetween(looks).entries()) {
		const whole = Math.min(Math.max((looks[nth] ?? NaN) * share, shortest), longest);
		expect(pause).toBeGreaterThanOrEqual(Math.max(1, whole * 0.5) - 0.05);
		expect(pause).toBeLessThanOrEqual(whole * 1.1 + 0.05);
	}
}

describe('Transaction > Wait for Payment: when it reads the payments', () => {
	const room = useWaitingRoom();

	afterEach(() => {
		webServer.publicUrl = undefined;
		jest.restoreAllMocks();
	});

	/** Charges and waits in an n8n that the platform can reach, whose webhooks are all lost. */
	const chargeUnheard = async (): Promise<{ hash: string; parked: StoredRun }> => {
		webServer.publicUrl = 'https://n8n.example.com';
		const { parked } = await room.chargeAndWait();
		room.account.sandbox.addFault({ kind: 'lostNotice', times: 'always' });
		if (!parked) throw new Error('It did not wait');
		return { hash: room.account.sandbox.transactions[0]?.hash ?? '', parked };
	};

	const chargeAndPark = async () => ({ parked: await room.park([await room.charge()]) });

	test('looks about 40 times in 24 hours: soon at first, then less and less often, if no webhooks come', async () => {
		const hash = await room.charge();

		const end = await (await room.park([hash])).finished;

		const looks = room.lookMinutes(hash);
		expectGrowing(looks.slice(0, -1), 0.6, 1, 60);
		expect(looks.length).toBeGreaterThanOrEqual(32);
		expect(looks.length).toBeLessThanOrEqual(48);
		expect(looks.at(-1)).toBeCloseTo(24 * 60, 0);
		expect(received(end)).toMatchObject([{ paid: false, timed_out: true }]);
	});

	describe('after a start of n8n', () => {
		const startNow = (): void => {
			const elapsed = clock.elapsed.bind(clock);
			const started = elapsed();
			jest.spyOn(clock, 'elapsed').mockImplementation(() => elapsed() - started);
		};

		test.each([
			['that pays before it', true, 0],
			['that pays after it', false, 0],
			['minutes after another run', false, 4],
		])(
			'a run that n8n resumes twice delivers once: a customer %s',
			async (_when, isPaid, after) => {
				const [other, hash] = [await room.charge(), await room.charge()];
				const run = await room.park([hash]);
				if (after > 0) await clock.sleep(8.5 * MINUTE_MS);
				await room.park([other]);
				if (isPaid) await room.setStatus([hash]);
				room.forget();
				startNow();
				await clock.sleep(after * MINUTE_MS);
				const outcomes = await run.resumeTwice();
				await room.setStatus([hash]);
				outcomes.push(await run.finished);

				const delivered = [...new Set(outcomes)].flatMap((one) => received(one) ?? []);
				expect(delivered).toMatchObject([{ hash, paid: true }]);
			},
		);

		test('the first look for an execution that waited before comes a minute and a quarter later, and no other, so that it ends after n8n marks crashed executions', async () => {
			jest.spyOn(clock, 'random').mockReturnValue(0);
			const hash = await room.charge();
			await room.park([hash]);
			room.forget();
			startNow();

			await clock.sleep(4 * MINUTE_MS);

			const [first, second, third] = room.lookMinutes(hash);
			expectPauses([first, second].map(Number), [2.25]);
			expectPauses([second, third].map(Number), [1]);
		});

		test('half an hour after the start, a webhook is looked at without delay', async () => {
			jest.spyOn(clock, 'random').mockReturnValue(1);
			const hash = await room.charge();
			const parked = await room.park([hash]);
			const looks = (): number => room.lookMinutes(hash).length;
			// The looks are an hour apart by now.
			await clock.sleep(5 * 60 * MINUTE_MS);
			const before = looks();
			while (looks() === before) await clock.sleep(MINUTE_MS);
			room.forget();
			await clock.sleep(31 * MINUTE_MS);
			const wokenAt = clock.elapsed();
			await parked.resumeByWebhook({ hash, status: 'refused' });
			await clock.sleep(MINUTE_MS / 2);

			expect(looks()).toBe(before + 2);
			expect(clock.elapsed() - wokenAt).toBeLessThan(MINUTE_MS);
		});

		test('an execution that started since is looked at in time', async () => {
			const hash = await room.charge();
			startNow();
			await room.park([hash]);

			await clock.sleep(4 * MINUTE_MS);

			const [first, second] = room.lookMinutes(hash);
			expectPauses([first, second].map(Number), [1]);
		});
	});

	test('looks rarely if the platform sends webhooks to this execution', async () => {
		const { hash } = await chargeUnheard();

		await clock.sleep(5 * 60 * MINUTE_MS);

		const looks = room.lookMinutes(hash);
		expectGrowing(looks, 1, 6, 60);
		expect(looks.length).toBeLessThanOrEqual(14);
	});

	test.each([
		['is another address', (url: string) => url.replace('signature=', 'signature=x')],
		['is missing', () => undefined],
	])('looks often if the address in the transaction %s', async (_name, other) => {
		webServer.publicUrl = 'https://n8n.example.com';
		const { parked } = await room.chargeAndWait();
		const set = { postback_url: other((await parked?.resumeUrl()) ?? '') };
		room.account.fault(
			'read',
			{ kind: 'patchBody', set, remove: set.postback_url ? [] : ['postback_url'] },
			'always',
		);
		const hash = await room.charge();

		await room.park([hash]);
		await clock.sleep(4 * MINUTE_MS);

		expect(room.lookMinutes(hash).length).toBeGreaterThanOrEqual(4);
	});

	test('looks often if the address of this execution is private', async () => {
		webServer.publicUrl = 'http://10.0.0.5:5678';
		await room.chargeAndWait();
		const [{ hash } = { hash: '' }] = room.account.sandbox.transactions;

		await clock.sleep(4 * MINUTE_MS);

		expect(room.lookMinutes(hash).length).toBeGreaterThanOrEqual(4);
	});

	test('looks again in a minute after a webhook whose read fails, even if reads have failed for an hour', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');
		await clock.sleep(70 * MINUTE_MS);
		await room.setStatus([hash]);
		await parked.resumeByWebhook({ hash, status: 'paid' });
		room.account.sandbox.clearFaults();

		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		const looks = room.lookMinutes(hash);
		expectPauses(looks.slice(-2), [1]);
	});

	test('looks again in a minute after a webhook that the read does not confirm, and then as before', async () => {
		const { hash, parked } = await chargeUnheard();
		jest.spyOn(clock, 'random').mockReturnValue(0.9);
		await clock.sleep(6 * MINUTE_MS);
		const before = room.lookMinutes(hash).length;

		const { answer, outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });
		await clock.sleep(20 * MINUTE_MS);

		expect([answer.status, outcome?.status]).toEqual([200, 'waiting']);
		expectPauses(room.lookMinutes(hash).slice(before), [1, 7]);
	});

	test('looks again in a minute after the first failed look, even if a webhook woke the look before', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await parked.resumeByWebhook({ hash, status: 'paid' });
		room.account.fault('read', { kind: 'status', status: 503 });

		await clock.sleep(5 * MINUTE_MS);

		expectPauses(room.lookMinutes(hash).slice(1, 4), [1, 1]);
	});

	test('looks again after at most 15 minutes while reads fail', async () => {
		const hash = await room.charge();
		await room.park([hash]);
		room.account.fault('read', { kind: 'status', status: 503 }, 'always');

		await clock.sleep(5 * 60 * MINUTE_MS);

		expectGrowing(room.lookMinutes(hash), 0.6, 1, 15);
	});

	test('looks as usual if only some payments can be read, and reads the others once the first are decided', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const [first = '', ...others] = hashes;
		const parked = await room.park(hashes);
		// Of each look only one read gets through.
		const fault = { kind: 'status', status: 503 } as const;
		for (let after = 1; after < 40; after += 3) room.account.fault('read', { ...fault, after }, 2);
		await clock.sleep(4 * MINUTE_MS);
		expectPauses(room.lookMinutes(first).slice(0, 3), [1, 1]);
		room.account.sandbox.clearFaults();
		await room.setStatus([first, ...others]);

		expect(received(await parked.finished)?.map(({ paid }) => paid)).toEqual([true, true, true]);
	});

	test('looks again soon if the only open payment could not be read', async () => {
		const [first, second] = [await room.charge(), await room.charge()];
		const parked = await room.park([first, second]);
		await room.setStatus([first, second]);
		room.account.fault('read', { kind: 'status', status: 503, after: 1 });

		const end = await parked.finished;

		expect(received(end)).toMatchObject([{ paid: true }, { paid: true }]);
		expectPauses(room.lookMinutes(second), [1, 1]);
	});

	test('never waits in line for the rate limit', async () => {
		const hash = await room.charge();
		room.account.fault('read', { kind: 'retryAfter', seconds: 80 });
		await room.park([hash]);
		const before = room.reads();

		await clock.sleep(1.5 * MINUTE_MS);

		// The look after a minute found no permit, and sent nothing.
		expect(room.reads()).toBe(before);
		await clock.sleep(4 * MINUTE_MS);
		expect(room.reads()).toBeGreaterThan(before);
	});

	test('looks at all payments even if the machine is so busy that each step takes a millisecond', async () => {
		const hashes = [await room.charge(), await room.charge(), await room.charge()];
		const { elapsed } = clock;
		let steps = 0;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => elapsed() + (steps += 1));

		await room.park(hashes);

		expect(hashes.map((hash) => room.lookMinutes(hash).length)).toEqual([1, 1, 1]);
	});

	test.each([
		['that expect webhooks over minutes', chargeUnheard, [3, 4.8, 6.6]],
		['that began together over seconds', chargeAndPark, [1, 1, 1.1]],
	])('spreads the looks of many waits %s', async (_which, begin, spread) => {
		const pauses: number[] = [];
		for (const random of [0, 0.5, 1]) {
			jest.spyOn(clock, 'random').mockReturnValue(random);
			const { parked } = await begin();
			pauses.push((parked.waitTill - clock.now()) / MINUTE_MS);
		}

		expect(pauses).toEqual(spread.map((minutes) => expect.closeTo(minutes, 2)));
	});

	test('shows nothing while it waits, and leaves one run of the node', async () => {
		const hash = await room.charge();
		const run = await room.wait([hash]);
		expect(run.status).toBe('waiting');
		expect(run.data.Wait?.items).toEqual([]);
		await clock.sleep(10 * MINUTE_MS);
		await room.setStatus([hash]);

		const end = await run.parked?.finished;

		expect(end?.run.data.resultData.runData.Wait).toHaveLength(1);
		expect(end?.run.data.resultData.runData.After).toHaveLength(1);
	});

	test('finds the payment without the memory of the process that parked the execution', async () => {
		const hash = await room.charge();
		const parked = await room.park([hash]);
		await clock.sleep(2 * MINUTE_MS);
		room.forget();
		await room.setStatus([hash]);

		expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		expect(room.lookMinutes(hash).at(-1)).toBeLessThan(4);
	});

	describe('if the clock is set', () => {
		/** Sets the clock of the machine by so many hours. */
		const set = (hours: number): void => {
			const { now } = Date;
			jest.spyOn(Date, 'now').mockImplementation(() => now() + hours * 60 * MINUTE_MS);
		};

		test('back, a webhook still wakes the execution', async () => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			set(-3);
			await clock.sleep(2 * MINUTE_MS);
			await room.setStatus([hash]);

			const { outcome } = await parked.resumeByWebhook({ hash, status: 'paid' });

			expect(received(outcome)).toMatchObject([{ paid: true }]);
		});

		test('back, the payment is found later without a webhook', async () => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			set(-3);
			await room.setStatus([hash]);

			expect(received(await parked.finished)).toMatchObject([{ paid: true }]);
		});

		test('forward past the limit, the payments are read before the wait ends', async () => {
			const [paid, open] = [await room.charge(), await room.charge()];
			const parked = await room.park([paid, open]);
			await room.setStatus([paid]);
			set(30);

			expect(received(await parked.finished)).toMatchObject([
				{ hash: paid, paid: true },
				{ hash: open, paid: false, timed_out: true },
			]);
		});

		describe('forward while it ends, as if n8n had stopped for hours', () => {
			/** Two payments, of which only the first can be read at the time limit. */
			const parkAtEnd = async () => {
				// With the shortest pauses, no look comes in the last half minute.
				jest.spyOn(clock, 'random').mockReturnValue(0);
				const [first, second] = [await room.charge(), await room.charge()];
				const parked = await room.park([first, second], { minutes: 10 });
				await clock.sleep(9.5 * MINUTE_MS);
				await room.setStatus([first, second]);
				room.account.fault('read', { kind: 'status', status: 503, after: 1 });
				await clock.sleep(MINUTE_MS);
				set(3);
				return { first, second, parked };
			};

			test('it looks again if the first read fails', async () => {
				const { parked } = await parkAtEnd();
				room.account.fault('read', { kind: 'status', status: 503 }, 2);

				const items = received(await parked.finished);

				expect(items).toMatchObject([{ paid: true }, { paid: true }]);
			});

			test('it reads again the payments that it read before the stop', async () => {
				const { first, parked } = await parkAtEnd();
				await room.setStatus([first], 'refunded');

				const items = received(await parked.finished);

				expect(items).toMatchObject([{ paid: true }, { payment_status: 'refunded' }]);
			});
		});

		test('forward past the limit, the payment is read again if the first read fails', async () => {
			const hash = await room.charge();
			const parked = await room.park([hash]);
			await room.setStatus([hash]);
			set(30);
			room.account.fault('read', { kind: 'resetBeforeProcessing' });

			expect(received(await parked.finished)).toMatchObject([{ hash, paid: true }]);
		});
	});
});

describe('Transaction > Wait for Payment: when few reads are allowed', () => {
	const room = useWaitingRoom({ readsPerMinute: 4 });

	test('all payments are read at the end, although all waits were overdue at once', async () => {
		const hashes: string[] = [];
		while (hashes.length < 5) hashes.push(await room.charge());
		const parked: StoredRun[] = [];
		for (const hash of hashes) {
			parked.push(await room.park([hash]));
			await clock.sleep(MINUTE_MS / 2);
		}
		await room.setStatus(hashes);
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 30 * 60 * MINUTE_MS);

		const ends = await Promise.all(parked.map(async (run) => received(await run.finished)?.[0]));
		jest.restoreAllMocks();

		expect(ends.map((item) => item?.paid)).toEqual(hashes.map(() => true));
	});

	test('hashes that the platform does not know leave reads for the others', async () => {
		const hashes = [await room.charge(), await room.charge()];
		const unknown = ['nosuch1', 'nosuch2', 'nosuch3'];
		const settings = { onError: 'continueRegularOutput' };
		const parked = await room.park([...unknown, ...hashes], { settings, minutes: 120 });
		await room.setStatus(hashes);

		const items = received(await parked.finished) ?? [];

		expect(items.slice(0, 2).map(({ paid }) => paid)).toEqual([true, true]);
		expect(items.slice(2)).toHaveLength(unknown.length);
		expect(room.lookMinutes(hashes[0] ?? '').at(-1)).toBeLessThan(60);
	});
});
