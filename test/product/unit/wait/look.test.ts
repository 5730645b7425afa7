import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import { forgetLook, isLooking, lookAt, type Look } from '../../../../nodes/DigitalSales/wait/look';
import type { SuspendedWait } from '../../../../nodes/DigitalSales/wait/suspendedWait';

const ACCOUNT = readAccount({ baseUrl: 'https://one.test/public/v1', apiToken: 'token-1' });
const OTHER_ACCOUNT = readAccount({ baseUrl: 'https://one.test/public/v1', apiToken: 'token-2' });
const READ_MS = 2_000;

/** What the service says of each hash; an open payment by default. */
type Answers = Record<string, 'paid' | 'failed' | 'limited'>;

describe('Looks at the payments of a wait', () => {
	const real = { ...clock };
	let now: number;

	beforeEach(() => {
		now = 1_000_000;
		clock.elapsed = () => now;
	});
	afterEach(() => {
		Object.assign(clock, real);
		clearProcessWide();
	});

	const waitFor = (count: number, id = 'wait-1'): SuspendedWait => ({
		id,
		deadline: 0,
		recheckMs: 0,
		count,
		// Item 0 failed, so the index of an item is not its place among the payments.
		payments: Array.from({ length: count }, (_, nth) => ({
			index: nth + 1,
			hash: `h${nth}`,
			simplify: true,
		})),
	});

	/** One check that has time for so many reads; gives the hashes that were read. */
	const check = async (
		look: Look,
		{
			answers = {},
			most = Infinity,
			noticed,
			isFinal = false,
		}: { answers?: Answers; most?: number; noticed?: string; isFinal?: boolean } = {},
	): Promise<string[]> => {
		const asked: string[] = [];
		look.begin(noticed, isFinal);
		const beginBy = now + READ_MS;
		await look.read(async ({ hash }) => {
			asked.push(hash);
			if (asked.length === most) now = beginBy + 1;
			const answer = answers[hash];
			if (answer === 'failed' || answer === 'limited') return answer;
			return { isSettled: answer === 'paid', json: { hash, answer: answer ?? 'open' } };
		}, beginBy);
		return asked;
	};
	const hashes = (from: number, to: number): string[] =>
		Array.from({ length: to - from }, (_, nth) => `h${from + nth}`);
	const paid = (...them: string[]): Answers =>
		Object.fromEntries(them.map((hash) => [hash, 'paid']));

	test('go on where the last check ended, and read nothing twice', async () => {
		const look = lookAt(waitFor(50), ACCOUNT);
		const answers = paid(...hashes(0, 50));

		expect(await check(look, { answers, most: 20 })).toEqual(hashes(0, 20));
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([false, true, false]);
		expect(await check(look, { answers, most: 20 })).toEqual(hashes(20, 40));
		expect(look.hasFailed).toBe(false);
		expect(await check(look, { answers, most: 20 })).toEqual(hashes(40, 50));
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([true, false, true]);
	});

	test('find a wait settled only by the states of one look', async () => {
		const look = lookAt(waitFor(2), ACCOUNT);
		await check(look, { answers: paid('h0') });
		expect(look.isSettled).toBe(false);

		await check(look, { answers: paid('h1'), most: 1 });
		expect(look.isSettled).toBe(false);
		await check(look, { answers: paid('h1') });

		expect(look.isSettled).toBe(false);
		expect(look.lastKnown(1)).toEqual({ hash: 'h0', answer: 'open' });
	});

	test('begin with the payments that are not settled, then with those read the longest time ago', async () => {
		const look = lookAt(waitFor(25), ACCOUNT);
		const answers = paid(...hashes(0, 10), ...hashes(20, 24));
		await check(look, { answers, most: 20 });
		await check(look, { answers });

		expect(await check(look, { answers })).toEqual([
			...hashes(10, 20),
			'h24',
			...hashes(0, 10),
			...hashes(20, 24),
		]);
	});

	test('read a payment first that a notice is about, even a second time', async () => {
		const look = lookAt(waitFor(30), ACCOUNT);
		await check(look, { most: 20 });

		expect(await check(look, { noticed: 'H3', answers: paid('h3') })).toEqual([
			'h3',
			...hashes(20, 30),
		]);
		expect(look.lastKnown(4)).toEqual({ hash: 'h3', answer: 'paid' });
	});

	test('ask again for what failed, last, for as long as anything else can be read', async () => {
		const look = lookAt(waitFor(30), ACCOUNT);
		const answers: Answers = { ...paid(...hashes(0, 30)), h0: 'failed' };
		await check(look, { answers, most: 20 });

		expect(await check(look, { answers })).toEqual([...hashes(20, 30), 'h0']);
		expect([look.isOver, look.hasFailed]).toEqual([false, true]);
		expect(await check(look, { answers })).toEqual(['h0']);
		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(await check(look, { answers: paid(...hashes(0, 30)) })).toHaveLength(30);
		expect(look.isSettled).toBe(true);
	});

	test('take a payment that the rate limit kept back for unread', async () => {
		const look = lookAt(waitFor(3), ACCOUNT);
		const answers: Answers = { ...paid('h0', 'h1'), h2: 'limited' };
		await check(look, { answers });
		const soonMs = look.pauseMs;

		expect(await check(look, { answers })).toEqual(['h2']);
		expect([look.isHalfDone, look.hasFailed]).toEqual([true, true]);
		expect(look.pauseMs).toBeGreaterThan(soonMs);
		expect(await check(look, { answers: paid('h2') })).toEqual(['h2']);
		expect(look.isSettled).toBe(true);
	});

	test('are not half done, and have failed, as long as nothing was read', async () => {
		const look = lookAt(waitFor(2), ACCOUNT);

		expect(await check(look, { answers: { h0: 'limited', h1: 'limited' } })).toEqual(['h0', 'h1']);

		expect([look.isOver, look.isHalfDone, look.hasFailed]).toEqual([false, false, true]);
	});

	test('begin anew at the time limit', async () => {
		const look = lookAt(waitFor(30), ACCOUNT);
		const answers = paid(...hashes(0, 10));
		await check(look, { answers, most: 20 });

		expect(await check(look, { answers, isFinal: true, most: 20 })).toEqual([
			...hashes(20, 30),
			...hashes(10, 20),
		]);
		expect(await check(look, { answers, isFinal: true })).toEqual(hashes(0, 10));
		expect(look.isOver).toBe(true);
	});

	test('know the states of the present look, and of the last two minutes', async () => {
		const look = lookAt(waitFor(2), ACCOUNT);
		await check(look);
		now += 110_000;
		const answers: Answers = { ...paid('h0'), h1: 'failed' };
		await check(look, { answers });

		expect(look.lastKnown(1)).toEqual({ hash: 'h0', answer: 'paid' });
		expect(look.lastKnown(2)).toEqual({ hash: 'h1', answer: 'open' });
		now += 20_000;
		expect(look.lastKnown(2)).toBeUndefined();
		now += 200_000;
		expect(look.lastKnown(1)).toEqual({ hash: 'h0', answer: 'paid' });
	});

	test('are dropped after two minutes without a read', async () => {
		const wait = waitFor(30);
		const look = lookAt(wait, ACCOUNT);
		await check(look, { most: 20 });
		now += 119_000;
		expect(lookAt(wait, ACCOUNT)).toBe(look);
		await check(look, { answers: Object.fromEntries(hashes(0, 30).map((h) => [h, 'limited'])) });
		now += 2_000;

		expect(isLooking(wait, look)).toBe(false);
		expect(lookAt(wait, ACCOUNT)).not.toBe(look);
	});

	test('belong to one account and one wait, and are forgotten with it', () => {
		const wait = waitFor(1);
		const look = lookAt(wait, ACCOUNT);

		expect(lookAt(waitFor(1), ACCOUNT)).toBe(look);
		expect(lookAt(waitFor(1, 'wait-2'), ACCOUNT)).not.toBe(look);
		expect(isLooking(wait, look)).toBe(true);
		const other = lookAt(wait, OTHER_ACCOUNT);
		expect(other).not.toBe(look);
		forgetLook(wait);
		expect(isLooking(wait, other)).toBe(false);
	});

	test('are remembered for 1,000 waits, those half done the longest', async () => {
		const [done, halfDone] = [waitFor(30, 'done'), waitFor(30, 'half done')];
		await check(lookAt(halfDone, ACCOUNT), { most: 20 });
		const looks = [lookAt(halfDone, ACCOUNT), lookAt(done, ACCOUNT)] as const;

		for (let nth = 0; nth < 999; nth++) lookAt(waitFor(1, `wait-${nth}`), ACCOUNT);

		expect(isLooking(halfDone, looks[0])).toBe(true);
		expect(isLooking(done, looks[1])).toBe(false);
	});
});
