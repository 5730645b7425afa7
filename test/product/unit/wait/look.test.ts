import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import {
	blockers,
	endCheck,
	forgetLook,
	isLooking,
	lookAt,
	looks,
	type Look,
} from '../../../../nodes/DigitalSales/wait/look';
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
	/** One check of a wait for so many payments; gives its look and the hashes that were read. */
	const check = async (
		count: number,
		{ answers = {}, most = Infinity, noticed, isFinal = false }: Check = {},
		id?: string,
	): Promise<{ look: Look; asked: string[] }> => {
		const asked: string[] = [];
		const wait = waitFor(count, id);
		const look = lookAt(wait, ACCOUNT, isFinal);
		const beginBy = now + READ_MS;
		await look.read(
			async ({ hash }) => {
				asked.push(hash);
				if (asked.length === most) now = beginBy + 1;
				const answer = answers[hash];
				if (answer === 'failed' || answer === 'limited') return answer;
				return { isSettled: answer === 'paid', json: { hash, answer: answer ?? 'open' } };
			},
			{ noticed, beginBy },
		);
		endCheck(wait, look);
		return { look, asked };
	};
	const hashes = (from: number, to: number): string[] =>
		Array.from({ length: to - from }, (_, nth) => `h${from + nth}`);
	const all = (answer: Answers[string], ...them: string[]): Answers =>
		Object.fromEntries(them.map((hash) => [hash, answer]));
	const paid = (...them: string[]): Answers => all('paid', ...them);

	test('go on where the last check ended, and read nothing twice', async () => {
		const answers = paid(...hashes(0, 50));

		const first = await check(50, { answers, most: 20 });
		expect(first.asked).toEqual(hashes(0, 20));
		const { look } = first;
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([false, true, false]);
		expect((await check(50, { answers, most: 20 })).asked).toEqual(hashes(20, 40));
		expect(look.hasFailed).toBe(false);
		expect(await check(50, { answers, most: 20 })).toEqual({ look, asked: hashes(40, 50) });
		expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([true, false, true]);
	});

	test('find a wait settled only by the states of one look', async () => {
		const first = await check(2, { answers: paid('h0') });
		expect([first.look.isOver, first.look.isSettled]).toEqual([true, false]);

		const second = await check(2, { answers: paid('h1'), most: 1 });
		expect(second.asked).toEqual(['h1']);
		expect([second.look.isOver, second.look.isSettled]).toEqual([false, false]);
		expect((await check(2, { answers: paid('h1') })).asked).toEqual(['h0']);

		expect([second.look.isOver, second.look.isSettled]).toEqual([true, false]);
	});

	test('read only the payment that was open last, while it is', async () => {
		const answers = paid(...hashes(0, 45), ...hashes(46, 50));

		expect((await check(50)).asked).toEqual(['h0']);
		expect((await check(50, { answers })).asked).toHaveLength(50);
		for (const noticed of ['h3', 'h45', undefined]) {
			const { look, asked } = await check(50, { answers, noticed });
			expect(asked).toEqual(['h45']);
			expect([look.isOver, look.isHalfDone, look.isSettled]).toEqual([true, false, false]);
			expect(look.hasFailed).toBe(false);
			now += 600_000;
		}
		const { look, asked } = await check(50, { answers: paid(...hashes(0, 50)) });
		expect(asked).toEqual(['h45', ...hashes(0, 45), ...hashes(46, 50)]);
		expect(look.isSettled).toBe(true);
	});

	test('begin no other read once one payment is open', async () => {
		const { look, asked } = await check(50, { answers: paid('h0') });

		expect(asked).toEqual(hashes(0, 21));
		expect(look.isOver).toBe(true);
	});

	test('read a payment again that a notice is about, once', async () => {
		const answers = paid(...hashes(0, 30));
		await check(30, { answers, most: 20 });
		const limited = all('limited', ...hashes(0, 30));
		for (let nth = 0; nth < 3; nth++) await check(30, { answers: limited, noticed: 'H3' });

		const { h3: _open, ...others } = answers;
		const { look, asked } = await check(30, { answers: others });
		expect(asked).toEqual(['h3', ...hashes(20, 30)]);
		expect([look.isOver, look.isSettled]).toEqual([true, false]);
	});

	test('ask again for what failed, last, for as long as anything else can be read', async () => {
		const answers: Answers = { ...paid(...hashes(0, 30)), h1: 'failed' };
		const { look } = await check(30, { answers, most: 20 });

		expect((await check(30, { answers })).asked).toEqual([...hashes(20, 30), 'h1']);
		expect([look.isOver, look.hasFailed]).toEqual([false, true]);
		expect((await check(30, { answers })).asked).toEqual(['h1']);
		expect([look.isOver, look.isSettled]).toEqual([true, false]);
	});

	test('read only the payment that could not be read, as long as it cannot', async () => {
		const answers: Answers = { ...paid(...hashes(0, 30)), h7: 'failed' };
		await check(30, { answers });
		await check(30, { answers });

		for (let nth = 0; nth < 3; nth++) {
			const { look, asked } = await check(30, { answers });
			expect(asked).toEqual(['h7']);
			expect([look.isOver, look.isHalfDone, look.hasFailed]).toEqual([true, false, true]);
		}
		const { look, asked } = await check(30, { answers: paid(...hashes(0, 30)) });
		expect(asked).toEqual(['h7', ...hashes(0, 7), ...hashes(8, 30)]);
		expect(look.isSettled).toBe(true);
	});

	test('end if the first payment cannot be read, and the others are left alone', async () => {
		const { look, asked } = await check(30, { answers: all('failed', ...hashes(0, 30)) });

		expect(asked).toEqual(['h0']);
		expect([look.isOver, look.hasFailed]).toEqual([true, true]);
	});

	test.each([
		['before the limit: once', false, 4],
		['at the limit: three times', true, 9],
	])(
		'end when each payment that cannot be read has been tried, %s',
		async (_name, isFinal, expected) => {
			const answers = { ...paid(...hashes(0, 30)), ...all('failed', ...hashes(30, 75)) };
			const asked: string[] = [];
			let checks = 0;
			let look: Look;
			do {
				const done = await check(75, { answers, isFinal, most: 20 });
				({ look } = done);
				asked.push(...done.asked);
				checks++;
			} while (!look.isOver);

			// 20 in each, and each finds something at first.
			expect(checks).toBe(expected);
			expect(new Set(asked)).toEqual(new Set(hashes(0, 75)));
			expect(look.isSettled).toBe(false);
		},
	);

	test('take a payment that the rate limit kept back for unread', async () => {
		const answers: Answers = { ...paid('h0', 'h1'), h2: 'limited' };
		const { look } = await check(3, { answers });
		expect(look.pauseMs).toBe(1_000);

		expect((await check(3, { answers })).asked).toEqual(['h2']);
		expect([look.isHalfDone, look.hasFailed]).toEqual([true, true]);
		expect(look.pauseMs).toBe(15_000);
		expect((await check(3, { answers: paid('h2') })).asked).toEqual(['h2']);
		expect(look.isSettled).toBe(true);
	});

	test('are not half done, and have failed, as long as nothing was read', async () => {
		const { look, asked } = await check(2, { answers: { h0: 'limited', h1: 'limited' } });

		expect(asked).toEqual(['h0']);
		expect([look.isOver, look.isHalfDone, look.hasFailed]).toEqual([false, false, true]);
	});

	test('begin anew at the time limit, and then read all payments', async () => {
		await check(30, { answers: paid(...hashes(0, 30)), most: 20 });

		const answers = paid(...hashes(5, 30));
		const { look, asked } = await check(30, { answers, isFinal: true, most: 20 });
		expect(asked).toEqual(hashes(0, 20));
		expect((await check(30, { answers, isFinal: true })).asked).toEqual(hashes(20, 30));

		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(look.stateOf(1)).toEqual({ hash: 'h0', answer: 'open' });
		expect(look.stateOf(6)).toEqual({ hash: 'h5', answer: 'paid' });
	});

	test('know at the time limit what the look that was under way had read', async () => {
		await check(30, { answers: paid(...hashes(0, 30)), most: 20 });

		const answers = all('failed', ...hashes(0, 30));
		for (let nth = 0; nth < 2; nth++) await check(30, { answers, isFinal: true });
		const { look } = await check(30, { answers, isFinal: true });

		expect([look.isOver, look.isSettled]).toEqual([true, false]);
		expect(look.stateOf(1)).toEqual({ hash: 'h0', answer: 'paid' });
		expect(look.stateOf(21)).toBeUndefined();
	});

	test('keep no states when they are over, only which payment was open', async () => {
		await check(3, { answers: paid('h0') });

		expect([looks.size, blockers.size]).toEqual([0, 1]);
		const { look } = await check(3, { answers: all('failed', ...hashes(0, 3)) });
		expect(look.isOver).toBe(true);
		expect(look.stateOf(1)).toBeUndefined();
	});

	test('know nothing at the time limit of a payment that has changed since it was read', async () => {
		await check(30, { answers: paid(...hashes(0, 30)), most: 20 });
		const failing = all('failed', ...hashes(0, 30));
		await check(30, { answers: { ...paid(...hashes(0, 30)), h3: 'failed' }, noticed: 'h3' });

		const { look } = await check(30, { answers: failing, isFinal: true });

		expect(look.stateOf(3)).toEqual({ hash: 'h2', answer: 'paid' });
		expect(look.stateOf(4)).toBeUndefined();
	});

	test('go on after the longest time for which a 429 closes the rate limit', async () => {
		let openAt = 0;
		let reads = 0;
		let look: Look | undefined;
		const end = now + 3_600_000;
		while (now < end && !look?.isSettled) {
			const done = await check(30, {
				answers: now < openAt ? all('limited', ...hashes(0, 30)) : paid(...hashes(0, 30)),
				most: 20,
			});
			({ look } = done);
			if (now >= openAt) {
				reads += done.asked.length;
				openAt = now + 300_000;
			}
			now += 15_000;
		}

		expect([look?.isSettled, reads]).toEqual([true, 30]);
	});

	test('are dropped after six minutes without a read, and others are in time', async () => {
		const answers = paid(...hashes(0, 30));
		const { look } = await check(30, { answers, most: 20 });
		now += 359_000;
		expect(isLooking(waitFor(30), look)).toBe(true);
		await check(30, { answers: all('limited', ...hashes(0, 30)) });
		now += 2_000;

		expect(isLooking(waitFor(30), look)).toBe(false);
		const next = await check(30, { answers, most: 20 });
		expect(next.look).not.toBe(look);
		now += 361_000;
		await check(1, { answers: { h0: 'limited' } }, 'wait-2');
		expect(looks.size).toBe(1);
	});

	test('are not dropped after the time limit, as long as there are checks', async () => {
		const answers = paid(...hashes(0, 30));
		const { look } = await check(30, { answers, isFinal: true, most: 20 });
		for (let nth = 0; nth < 10; nth++) {
			now += 60_000;
			await check(30, { answers: all('limited', ...hashes(0, 30)), isFinal: true });
		}

		expect(isLooking(waitFor(30), look)).toBe(true);
		expect(look.stateOf(1)).toEqual({ hash: 'h0', answer: 'paid' });
	});

	test('belong to one account and one wait, and are forgotten with it', () => {
		const wait = waitFor(1);
		const look = lookAt(wait, ACCOUNT, false);

		expect(lookAt(waitFor(1), ACCOUNT, false)).toBe(look);
		expect(lookAt(waitFor(1, 'wait-2'), ACCOUNT, false)).not.toBe(look);
		expect(isLooking(wait, look)).toBe(true);
		const other = lookAt(wait, OTHER_ACCOUNT, false);
		expect(other).not.toBe(look);
		forgetLook(wait);
		expect(isLooking(wait, other)).toBe(false);
	});

	test('take nothing over at the limit that was read from another account', async () => {
		const { look } = await check(30, { answers: paid(...hashes(0, 30)), most: 20 });

		expect(look.stateOf(1)).toBeDefined();
		expect(lookAt(waitFor(30), OTHER_ACCOUNT, true).stateOf(1)).toBeUndefined();
	});

	test('are under way for 1,000 waits at most', () => {
		const first = lookAt(waitFor(1, 'first'), ACCOUNT, false);
		const second = lookAt(waitFor(1, 'second'), ACCOUNT, false);
		lookAt(waitFor(1, 'first'), ACCOUNT, false);
		for (let nth = 0; nth < 999; nth++) lookAt(waitFor(1, `wait-${nth}`), ACCOUNT, false);

		expect(isLooking(waitFor(1, 'first'), first)).toBe(true);
		expect(isLooking(waitFor(1, 'second'), second)).toBe(false);
	});
});
