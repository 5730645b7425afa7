import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import {
	SingleFlight,
	type Caller,
	type TaskResult,
} from '../../../../nodes/DigitalSales/notice/singleFlight';
import { withoutWaiting } from '../../../support/virtualTime';

const PAUSE_MS = 3_000;

/** What a look at a transaction sees; `over` means that no further look is needed. */
interface Look {
	status?: string;
	over?: boolean;
}

const PAID = { status: 'paid' };

const resultOf = ({ status, over }: Look): TaskResult<string> => ({
	result: 'own look',
	resultFor: (content) =>
		over || (content !== undefined && content === status) ? `saw ${status}` : undefined,
});

describe('Single flight of looks at a transaction', () => {
	const real = { ...clock };
	let startedAt: number;
	let looks: SingleFlight<string>;
	let letPass: (milliseconds: number) => Promise<void>;
	let inFlight: number;
	/** What sleeps while a look is in flight: until the time that the test lets pass. */
	let sleepers: Array<{ until: number; wake: () => void }>;

	beforeEach(() => {
		looks = new SingleFlight({ pausesAfterFailure: false });
		startedAt = real.elapsed();
		clock.elapsed = () => startedAt;
		inFlight = 0;
		sleepers = [];
		withoutWaiting(clock);
		letPass = clock.sleep;
		clock.sleep = async (milliseconds) => {
			if (inFlight === 0) return await letPass(milliseconds);
			const until = clock.elapsed() + milliseconds;
			await new Promise<void>((wake) => sleepers.push({ until, wake }));
		};
	});
	afterEach(() => {
		Object.assign(clock, real);
	});

	/** Asks for a look: "own look" if it gets one, "saw ..." if it takes the last one, undefined if it is rejected. */
	const ask = async (more: Partial<Caller> = {}): Promise<string | undefined> =>
		await looks.run({ key: 'ab12', ...more }, async () => resultOf({}));
	/** Begins a look at once, and gives what ends it; without an outcome it fails. */
	const begin = (more: Partial<Caller> = {}): ((outcome?: Look) => Promise<unknown>) => {
		let end: ((outcome?: Look) => void) | undefined;
		const running = looks.run({ key: 'ab12', ...more }, async () => {
			inFlight++;
			const outcome = await new Promise<Look | undefined>((resolve) => (end = resolve));
			inFlight--;
			if (!outcome) throw new Error('Nothing was found');
			return resultOf(outcome);
		});
		const ended = running.catch((error: unknown) => error);
		if (!end) throw new Error('The look has to wait');
		const finish = end;
		return async (outcome) => {
			finish(outcome);
			return await ended;
		};
	};
	/** Has looked at the transaction a moment ago. */
	const look = async (outcome: Look = PAID, caller: Partial<Caller> = {}): Promise<void> => {
		await begin(caller)(outcome);
	};
	const seconds = async (count: number): Promise<void> => {
		await letPass(count * 1_000);
		for (const { until, wake } of sleepers) if (until <= clock.elapsed()) wake();
		await new Promise((resolve) => setImmediate(resolve));
	};
	const passed = (): number => clock.elapsed() - startedAt;

	describe('while a look is in flight', () => {
		test('the same notice has to come again', async () => {
			begin({ content: 'paid' });

			expect(await ask({ content: 'paid' })).toBeUndefined();
		});

		test('so is the second of two that say nothing', async () => {
			begin();

			expect(await ask()).toBeUndefined();
		});

		test('a notice that says something else is held, and the next one has to come again', async () => {
			const end = begin({ content: 'paid' });
			const held = ask({ content: 'refunded' });

			expect(await ask({ content: 'chargeback' })).toBeUndefined();
			await end();
			expect(await held).toBe('own look');
			expect(passed()).toBe(0);
		});

		test('a ping starts no second look either', async () => {
			const end = begin({ content: 'paid' });
			const second = ask({ isPing: true });
			let isDone = false;
			void second.then(() => (isDone = true));

			await seconds(1);
			expect(isDone).toBe(false);
			await end({});
			expect(await second).toBe('own look');
			expect(passed()).toBe(1_000);
		});

		test('another transaction is looked at too', async () => {
			begin();

			expect(await ask({ key: 'cd34' })).toBe('own look');
		});

		test('a notice is not held until a long look has ended, and makes room', async () => {
			const end = begin({ content: 'paid' });
			const held = ask({ content: 'refunded' });
			await seconds(4);

			expect(await held).toBeUndefined();
			const next = ask({ content: 'refunded' });
			await seconds(1);
			await end({});
			expect(await next).toBe('own look');
			expect(passed()).toBe(5_000 + PAUSE_MS);
		});

		test('a ping is held until a long look has ended', async () => {
			const end = begin({ content: 'paid' });
			const held = ask({ isPing: true });
			await seconds(15);
			await end({});

			expect(await held).toBe('own look');
		});

		test('a notice held for a short look also waits for the end of its pause', async () => {
			const end = begin({ content: 'paid' });
			const held = ask({ content: 'refunded' });
			await seconds(1);
			await end({});

			expect(await held).toBe('own look');
			expect(passed()).toBe(1_000 + PAUSE_MS);
		});

		test('a held notice takes what the look saw if it says the same', async () => {
			const end = begin({ content: 'waiting_payment' });
			const held = ask({ content: 'paid' });
			await end(PAID);

			expect(await held).toBe('saw paid');
		});
	});

	describe('in the pause after a look', () => {
		test('a notice that says what was seen needs no look of its own', async () => {
			await look();

			expect(await ask({ content: 'paid' })).toBe('saw paid');
			expect(passed()).toBe(0);
		});

		test('one that says something else is looked at when the pause is over', async () => {
			await look();

			expect(await ask({ content: 'refunded' })).toBe('own look');
			expect(passed()).toBe(PAUSE_MS);
		});

		test('one that says nothing is looked at, even if the last look saw no status', async () => {
			await look({});

			expect(await ask()).toBe('own look');
			expect(passed()).toBe(PAUSE_MS);
		});

		test('one is held until it ends, and the others have to come again', async () => {
			await look();

			const [held, other] = await Promise.all([
				ask({ content: 'refunded' }),
				ask({ content: 'chargeback' }),
			]);

			expect(held).toBe('own look');
			expect(other).toBeUndefined();
		});

		test('a ping does not wait', async () => {
			await look();

			expect(await ask({ isPing: true })).toBe('own look');
			expect(passed()).toBe(0);
		});

		test('what is over needs no look', async () => {
			await look({ ...PAID, over: true });

			expect(await ask({ isPing: true })).toBe('saw paid');
			expect(passed()).toBe(0);
		});
	});

	test('what is over is looked at again after the pause', async () => {
		await look({ over: true });
		await seconds(3);

		expect(await ask()).toBe('own look');
	});

	test('what is forgotten, as by a restart, is looked at again', async () => {
		await look();
		looks.clear();

		expect(await ask({ content: PAID.status })).toBe('own look');
	});

	test('a look that fails leaves no pause and nothing behind', async () => {
		expect(await begin()()).toEqual(new Error('Nothing was found'));

		expect(looks.keys).toEqual([]);
		begin();
	});

	test('a look that fails is followed by a pause if that is asked for', async () => {
		looks = new SingleFlight({ pausesAfterFailure: true });
		await begin()();

		expect(await ask({ content: 'paid' })).toBe('own look');
		expect(passed()).toBe(PAUSE_MS);
	});

	describe('what is remembered of looks', () => {
		test('ends with the pause', async () => {
			await look({}, { key: 'first' });
			await seconds(1);
			await look({}, { key: 'second' });
			await seconds(2);

			await look({}, { key: 'third' });

			expect(looks.keys).toEqual(['second', 'third']);
		});

		test('ends with the pause even if an earlier look is still in flight', async () => {
			begin({ key: 'long' });
			await look({}, { key: 'first' });
			await seconds(3);

			await look({}, { key: 'second' });

			expect(looks.keys).toEqual(['long', 'second']);
		});

		test('is limited to the thousand that ended last', async () => {
			const ends: Array<(outcome?: Look) => Promise<unknown>> = [];
			for (let nth = 0; nth <= 1_000; nth += 1) ends.push(begin({ key: `${nth}` }));

			for (const end of ends.reverse()) await end({});

			expect(looks.keys).toHaveLength(1_000);
			expect(looks.keys.at(-1)).toBe('0');
			expect(looks.keys).not.toContain('1000');
		});
	});
});
