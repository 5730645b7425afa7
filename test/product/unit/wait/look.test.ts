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

interface Check {
	answers?: Answers;
	/** How many reads there is time for. */
	most?: number;
	noticed?: string;
	isFinal?: boolean;
}

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

	const begin = (wait: SuspendedWait) => {
		const look = lookAt(wait, ACCOUNT);
		return { look, check: async (how?: Check) => await check(wait, look, how) };
	};
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
		{ payments }: SuspendedWait,
		look: Look,
		{ answers = {}, most = Infinity, noticed, isFinal = false }: Check = {},
	): Promise<string[]> => {
		const asked: string[] = [];
		look.begin(payments, noticed, isFinal);
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
		const { look, check } = begin(waitFor(50));
		const answers = paid(...hashes(0, 50));

		expect(await check({ answers, most: 20 })).toEqual(hashes(0, 20));
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([false, true, false]);
		expect(await check({ answers, most: 20 })).toEqual(hashes(20, 40));
		expect(look.hasFailed).toBe(false);
		expect(await check({ answers, most: 20 })).toEqual(hashes(40, 50));
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([true, false, true]);
	});

	test('find a wait settled only by the states of one look', async () => {
		const { look, check } = begin(waitFor(2));
		await check({ answers: paid('h0') });
		expect(look.isSettled).toBe(false);

		expect(await check({ answers: paid('h1'), most: 1 })).toEqual(['h1']);
		expect(look.isSettled).toBe(false);
		expect(await check({ answers: paid('h1') })).toEqual(['h0']);

		expect([look.isOver, look.isSettled]).toEqual([true, false]);
	});

	test('read only the payment that was open last, while it is', async () => {
		const { look, check } = begin(waitFor(50));
		const answers = paid(...hashes(0, 45), ...hashes(46, 50));

		expect(await check({ answers: {} })).toEqual(['h0']);
		expect(await check({ answers })).toHaveLength(50);
		for (const noticed of ['h3', 'h45', undefined]) {
			expect(await check({ answers, noticed })).toEqual(['h45']);
			expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([true, false, false]);
			expect(look.hasFailed).toBe(false);
		}
		now += 600_000;
		expect(await check({ answers: paid(...hashes(0, 50)) })).toEqual([
			'h45',
			...hashes(0, 45),
			...hashes(46, 50),
		]);
		expect(look.isSettled).toBe(true);
	});

	test('begin no other read once one payment is open', async () => {
		const { look, check } = begin(waitFor(50));

		expect(await check({ answers: paid('h0') })).toEqual(hashes(0, 21));
		expect(look.isOver).toBe(true);
	});

	test('read a payment again that a notice is about', async () => {
		const { look, check } = begin(waitFor(30));
		const answers = paid(...hashes(0, 30));
		await check({ answers, most: 20 });

		const { h3: _open, ...others } = answers;
		expect(await check({ answers: others, noticed: 'H3' })).toEqual(['h3', ...hashes(20, 30)]);
		expect([look.isOver, look.isSettled]).toEqual([true, false]);
	});

	test('ask again for what failed, last, for as long as anything else can be read', async () => {
		const { look, check } = begin(waitFor(30));
		const answers: Answers = { ...paid(...hashes(0, 30)), h0: 'failed' };
		await check({ answers, most: 20 });

		expect(await check({ answers })).toEqual([...hashes(20, 30), 'h0']);
		expect([look.isOver, look.hasFailed]).toEqual([false, true]);
		expect(await check({ answers })).toEqual(['h0']);
		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(await check({ answers: paid(...hashes(0, 30)) })).toHaveLength(30);
		expect(look.isSettled).toBe(true);
	});

	test('take a payment that the rate limit kept back for unread', async () => {
		const { look, check } = begin(waitFor(3));
		const answers: Answers = { ...paid('h0', 'h1'), h2: 'limited' };
		await check({ answers });
		const soonMs = look.pauseMs;

		expect(await check({ answers })).toEqual(['h2']);
		expect([look.isHalfDone, look.hasFailed]).toEqual([true, true]);
		expect(look.pauseMs).toBeGreaterThan(soonMs);
		expect(await check({ answers: paid('h2') })).toEqual(['h2']);
		expect(look.isSettled).toBe(true);
	});

	test('are not half done, and have failed, as long as nothing was read', async () => {
		const { look, check } = begin(waitFor(2));

		expect(await check({ answers: { h0: 'limited', h1: 'limited' } })).toEqual(['h0', 'h1']);

		expect([look.isOver, look.isHalfDone, look.hasFailed]).toEqual([false, false, true]);
	});

	test('begin anew at the time limit, and then read all payments', async () => {
		const { look, check } = begin(waitFor(30));
		await check({ answers: paid(...hashes(0, 30)), most: 20 });

		const answers = paid(...hashes(5, 30));
		expect(await check({ answers, isFinal: true, most: 20 })).toEqual(hashes(0, 20));
		expect(await check({ answers, isFinal: true })).toEqual(hashes(20, 30));

		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(look.stateOf(1)).toEqual({ hash: 'h0', answer: 'open' });
		expect(look.stateOf(6)).toEqual({ hash: 'h5', answer: 'paid' });
	});

	test('know at the time limit what the look that was under way had read', async () => {
		const { look, check } = begin(waitFor(30));
		await check({ answers: paid(...hashes(0, 30)), most: 20 });

		await check({
			answers: Object.fromEntries(hashes(0, 30).map((h) => [h, 'failed'])),
			isFinal: true,
		});

		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(look.stateOf(1)).toEqual({ hash: 'h0', answer: 'paid' });
		expect(look.stateOf(21)).toBeUndefined();
	});

	test('keep no states when they are over', async () => {
		const { look, check } = begin(waitFor(3));
		await check({ answers: paid('h0') });
		expect(look.stateOf(1)).toBeUndefined();

		await check({ answers: { h0: 'failed', h1: 'failed', h2: 'failed' } });

		expect(look.isOver).toBe(true);
		expect(look.stateOf(1)).toBeUndefined();
	});

	test('are dropped after two minutes without a read, unless they are over', async () => {
		const wait = waitFor(30);
		const { look, check } = begin(wait);
		await check({ answers: paid(...hashes(0, 30)), most: 20 });
		now += 119_000;
		expect(isLooking(wait, look)).toBe(true);
		await check({ answers: Object.fromEntries(hashes(0, 30).map((h) => [h, 'limited'])) });
		now += 2_000;

		expect(isLooking(wait, look)).toBe(false);
		const next = begin(wait);
		expect(next.look).not.toBe(look);
		await next.check();
		now += 600_000;
		expect(isLooking(wait, next.look)).toBe(true);
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
		const looks = [begin(halfDone), begin(done)] as const;
		await looks[0].check({ answers: paid(...hashes(0, 30)), most: 20 });

		for (let nth = 0; nth < 999; nth++) lookAt(waitFor(1, `wait-${nth}`), ACCOUNT);

		expect(isLooking(halfDone, looks[0].look)).toBe(true);
		expect(isLooking(done, looks[1].look)).toBe(false);
	});
});
