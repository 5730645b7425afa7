import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Transaction } from '../../../nodes/DigitalSales/api/schemas/transaction';
import { clearProcessWide } from '../../../nodes/DigitalSales/shared/processWide';
import type { SuspendedWait } from '../../../nodes/DigitalSales/wait/storedWait';
import {
	knownWait,
	KnownWait,
	waits,
	type CheckResult,
} from '../../../nodes/DigitalSales/wait/knownWait';

const LIMIT_MS = 3_600_000;
const NET_MS = 900_000;

/** What is read of each hash; an open payment by default. */
type Answers = Record<string, string>;

describe('Checks of a wait', () => {
	const real = { ...clock };
	let now: number;
	let wait: SuspendedWait;
	let known: KnownWait;

	beforeEach(() => {
		now = 1_000_000;
		clock.elapsed = () => now;
		clock.now = () => now;
	});
	afterEach(() => {
		Object.assign(clock, real);
		clearProcessWide();
	});

	const waitFor = (count: number, id = 'wait-1'): SuspendedWait => ({
		id,
		deadline: now + LIMIT_MS,
		endsAt: now + LIMIT_MS + NET_MS,
		count: count + 1,
		// Item 0 failed, so the index of an item is not its place among the payments.
		payments: Array.from({ length: count }, (_, nth) => ({
			index: nth + 1,
			hash: `h${nth}`,
			simplify: true,
		})),
	});
	const begin = (count: number): void => {
		wait = waitFor(count);
		known = new KnownWait(wait);
	};
	/** One check a second later, with time for so many reads; gives how it ended and what was read. */
	const check = async (
		answers: Answers = {},
		{ most = Infinity, noticed = '', claimed = 'paid' } = {},
	): Promise<{ result: CheckResult; asked: string[]; urgent: string[] }> => {
		const asked: string[] = [];
		const urgent: string[] = [];
		now += 1_000;
		known.notice({ hash: noticed, status: claimed });
		const beginBy = now;
		const result = await known.check(async (hash, yields) => {
			asked.push(hash);
			if (!yields) urgent.push(hash);
			if (asked.length === most) now = beginBy + 1;
			const answer = answers[hash] ?? 'waiting_payment';
			if (answer === 'failed') return { outcome: 'unread', isSent: true };
			const transaction: Transaction = { hash, payment_status: answer, json: { hash } };
			return { outcome: 'found', transaction };
		}, beginBy);
		return { result, asked, urgent };
	};
	const hashes = (from: number, to: number): string[] =>
		Array.from({ length: to - from }, (_, nth) => `h${from + nth}`);
	const all = (answer: string, ...them: string[]): Answers =>
		Object.fromEntries(them.map((hash) => [hash, answer]));
	const paid = (...them: string[]): Answers => all('paid', ...them);
	const statusOf = (nth: number): unknown => {
		const suspended = Array.from({ length: wait.count }, () => ({ payment_status: 'suspended' }));
		return known.itemsOf(suspended)[nth + 1]?.json.payment_status;
	};

	test('go on where the last one ended, and read nothing twice', async () => {
		begin(50);
		const answers = paid(...hashes(0, 50));

		const checks = [];
		while (checks.at(-1)?.result !== 'done') checks.push(await check(answers, { most: 20 }));

		expect(checks.map(({ result }) => result)).toEqual(['unfinished', 'unfinished', 'done']);
		expect(checks.flatMap(({ asked }) => asked)).toEqual(hashes(0, 50));
	});

	test('end with the first payment that is open, and the next begins with another', async () => {
		begin(3);

		const checks = [await check(), await check(), await check(), await check()];

		expect(checks.map(({ asked }) => asked)).toEqual([['h0'], ['h1'], ['h2'], ['h0']]);
		expect(new Set(checks.map(({ result }) => result))).toEqual(new Set(['open']));
	});

	test('begin with one payment, then read 20 at once until one is open', async () => {
		begin(50);

		const { result, asked } = await check(paid('h0'));

		expect([result, asked]).toEqual(['open', hashes(0, 21)]);
	});

	test('read one payment each, also once some are settled', async () => {
		begin(50);
		await check(paid(...hashes(0, 10)));

		const checks = [await check(), await check(), await check()];

		expect(checks.map(({ asked }) => asked)).toEqual([['h21'], ['h22'], ['h23']]);
	});

	test('take a notice that comes during a read for read, unless the read is behind it', async () => {
		begin(2);
		const during = async (answer: string, claimed: string): Promise<CheckResult> => {
			now += 1_000;
			return await known.check(async (hash) => {
				if (hash === 'h0') known.notice({ hash, status: claimed });
				const transaction: Transaction = { hash, payment_status: answer, json: { hash } };
				return { outcome: 'found', transaction };
			}, now);
		};

		const claims = ['med_analysis', 'refunded', 'paid', 'paid'];
		const results = [];
		for (const claimed of claims) results.push(await during('paid', claimed));

		expect(results).toEqual(['unfinished', 'unfinished', 'unread', 'done']);
	});

	test('believe no notice that the next read does not confirm', async () => {
		begin(1);

		const checks = [await check({}, { noticed: 'h0' }), await check()];

		expect(checks.map(({ result }) => result)).toEqual(['unread', 'open']);
	});

	test('keep what was read however often a notice claims more', async () => {
		begin(1);

		const refunded = { noticed: 'h0', claimed: 'refunded' };
		const checks = [await check(paid('h0'), refunded), await check(paid('h0'), refunded)];

		expect(checks.map(({ result }) => result)).toEqual(['unread', 'unread']);
		expect(statusOf(0)).toBe('paid');
	});

	test('read what was settled once more when none is open any more', async () => {
		begin(3);
		await check(paid('h0', 'h1'));
		expect((await check(paid('h0', 'h1'))).asked).toEqual(['h2']);

		const { result, asked } = await check({ ...paid('h1', 'h2'), h0: 'chargeback' });

		expect([result, asked]).toEqual(['done', ['h2', 'h0', 'h1']]);
		expect([statusOf(0), statusOf(1)]).toEqual(['chargeback', 'paid']);
	});

	test('keep what was settled if a read fails, or lags behind', async () => {
		begin(2);
		await check(paid('h0'));

		const failed = await check({ h0: 'failed', h1: 'paid' });
		const old = await check({ h0: 'waiting_payment' });

		expect([failed.result, old.result]).toEqual(['unread', 'done']);
		expect(statusOf(0)).toBe('paid');
	});

	test('take what is disputed for open again', async () => {
		begin(2);
		await check(paid('h0'));

		const { result } = await check({ h0: 'med_analysis', h1: 'paid' });

		expect(result).toBe('open');
		expect(statusOf(0)).toBe('med_analysis');
	});

	test('begin with what was noticed, which goes before all others in the rate limit', async () => {
		begin(25);

		const { result, asked, urgent } = await check(paid('h3'), { noticed: 'h3' });

		expect([result, asked, urgent]).toEqual(['open', ['h3', 'h0'], ['h3']]);
		expect((await check()).urgent).toEqual([]);
	});

	test('do not forget a notice before its payment was read', async () => {
		begin(2);
		const both = await check(all('failed', 'h0', 'h1'), { noticed: 'h1' });
		const failed = await check({ h1: 'failed' });

		const read = await check();

		expect([both, failed, read].map(({ result }) => result)).toEqual(['unread', 'unread', 'open']);
		expect(read.asked).toEqual(['h1']);
		expect(read.urgent).toEqual(['h1']);
	});

	test('leave the others alone if the first can not be read, and begin with another then', async () => {
		begin(3);
		const answers = { ...paid('h1', 'h2'), h0: 'failed' };

		const checks = [await check(answers), await check(answers), await check(answers)];

		expect(checks.map(({ result }) => result)).toEqual(['unread', 'unread', 'unread']);
		expect(checks.map(({ asked }) => asked)).toEqual([['h0'], ['h1', 'h2', 'h0'], ['h0']]);
		expect((await check(paid('h0'))).result).toBe('done');
	});

	test('read all after the limit, at once, and ask again for what failed', async () => {
		begin(30);
		await check(paid('h4'));
		now += LIMIT_MS;

		const first = await check({ ...paid('h4', 'h7'), h9: 'failed' }, { noticed: 'h7' });
		const second = await check({ h9: 'failed' });
		const third = await check(paid('h9'));

		expect(first.asked).toHaveLength(30);
		expect(first.asked[0]).toBe('h7');
		expect(first.urgent).toEqual(first.asked);
		expect([first, second].map(({ result }) => result)).toEqual(['unread', 'unread']);
		expect(third.result).toBe('done');
		expect([...second.asked, ...third.asked]).toEqual(['h9', 'h9']);
		expect([4, 7, 9, 1].map(statusOf)).toEqual(['paid', 'paid', 'paid', 'waiting_payment']);
	});

	test('ask again for what failed after the limit, also if they began before it', async () => {
		begin(2);
		now = known.limitAt - 1;
		await known.check(async (hash) => {
			now += 2;
			if (hash !== 'h0') return { outcome: 'unread', isSent: true };
			return { outcome: 'found', transaction: { hash, payment_status: 'paid', json: {} } };
		}, Infinity);

		expect((await check(paid('h0', 'h1'))).asked).toEqual(['h1', 'h0']);
	});

	test('that had no time for all after the limit are unfinished, although some are open', async () => {
		begin(30);
		now += LIMIT_MS;

		const checks = [await check({}, { most: 20 }), await check()];

		expect(checks.map(({ result }) => result)).toEqual(['unfinished', 'done']);
	});

	test('give up just before n8n ends the wait, with what was read and else as it was suspended', async () => {
		begin(2);
		await check({ ...paid('h0'), h1: 'failed' });
		expect(known.mustGoOn()).toBe(false);
		now += LIMIT_MS;
		expect(known.isLimitOver()).toBe(true);
		expect((await check(all('failed', 'h0', 'h1'))).result).toBe('unread');
		expect(known.mustGoOn()).toBe(false);

		now = wait.endsAt - 30_000;

		expect(known.mustGoOn()).toBe(true);
		expect([statusOf(0), statusOf(1)]).toEqual(['paid', 'suspended']);
	});

	test.each([
		['back', -600_000, 0],
		['forward', 600_000, 600_000],
	])('end no later if the clock is set %s', (_name, by, early) => {
		begin(1);
		clock.now = () => now + by;

		now += LIMIT_MS - early - 1;
		expect(known.isLimitOver()).toBe(false);
		now += 1;
		expect(known.isLimitOver()).toBe(true);
		now += NET_MS - 30_001;
		expect(known.mustGoOn()).toBe(false);
		now += 1;
		expect(known.mustGoOn()).toBe(true);
	});

	test('end before n8n ends the wait, even if the clock is set forward past the limit', () => {
		begin(1);
		clock.now = () => wait.endsAt - 30_000;

		expect(known.mustGoOn()).toBe(true);
	});

	test('are remembered for each wait until n8n has ended it', () => {
		begin(1);
		expect(knownWait(wait)).toBe(knownWait(wait));
		expect(knownWait(waitFor(1, 'wait-2'))).not.toBe(knownWait(wait));

		now = wait.endsAt + 1;

		expect(waits.get('wait-1')).toBeUndefined();
	});
});
