import { readAccount } from '../../../../nodes/DigitalSales/api/account';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { readLimiterFor, ReadLimiter } from '../../../../nodes/DigitalSales/notice/verify';

const MINUTE = 60_000;
const MISSES = 30;
const FOUND = 0;
const MISSED = 1;

describe('Reads that notices cause', () => {
	let limiter: ReadLimiter;
	let now: number;

	beforeEach(() => {
		now = 1_000_000;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
		limiter = new ReadLimiter(MISSES);
	});
	afterEach(() => jest.restoreAllMocks());

	/** Asks for so many reads; gives whether each was admitted, `undefined` while it queues. */
	async function ask(count: number, startBy = Infinity): Promise<Array<boolean | undefined>> {
		const outcomes = new Array<boolean | undefined>(count).fill(undefined);
		outcomes.forEach((_, nth) => {
			void limiter.enter(startBy).then((admitted) => {
				outcomes[nth] = admitted;
			});
		});
		await settled();
		return outcomes;
	}
	async function settled(): Promise<void> {
		await new Promise((resolve) => setImmediate(resolve));
	}
	async function leave(misses: number): Promise<void> {
		limiter.leave(misses);
		await settled();
	}
	const count = (outcomes: Array<boolean | undefined>, wanted: boolean | undefined): number =>
		outcomes.filter((outcome) => outcome === wanted).length;
	/** Makes so many reads, one after the other; gives how many were admitted. */
	async function read(times: number, misses: number): Promise<number> {
		let admitted = 0;
		for (let nth = 0; nth < times; nth++) {
			if (!(await limiter.enter(Infinity))) continue;
			admitted++;
			limiter.leave(misses);
		}
		return admitted;
	}

	test('run ten at once; the next waits until one has ended', async () => {
		const outcomes = await ask(11);
		expect([count(outcomes, true), count(outcomes, undefined)]).toEqual([10, 1]);

		await leave(FOUND);

		expect(count(outcomes, true)).toBe(11);
	});

	test('leave the queue in the order in which they entered it', async () => {
		await ask(10);
		const first = await ask(1);
		const second = await ask(1);

		await leave(FOUND);

		expect([first, second]).toEqual([[true], [undefined]]);
	});

	test('queue up to 256', async () => {
		await ask(10);

		const outcomes = await ask(257);

		expect([count(outcomes, undefined), count(outcomes, false)]).toEqual([256, 1]);
		expect(outcomes.at(-1)).toBe(false);
	});

	test('do not begin when their time has run out in the queue', async () => {
		await ask(10);
		const late = await ask(1, now + 1_000);
		const inTime = await ask(1, now + 1_001);
		now += 1_001;

		await leave(FOUND);

		expect([late, inTime]).toEqual([[false], [true]]);
	});

	test('may miss half of a minute’s allowance at once, the rest over the minute', async () => {
		expect(await read(20, MISSED)).toBe(15);
		now += 3_999;
		expect(await read(2, MISSED)).toBe(0);
		now += 1;
		expect(await read(2, MISSED)).toBe(1);
		now += MINUTE;
		expect(await read(20, MISSED)).toBe(15);
		now += 60 * MINUTE;
		expect(await read(20, MISSED)).toBe(15);
	});

	test('count twice if they miss with two requests', async () => {
		expect(await read(20, 2)).toBe(8);
	});

	test('begin again within four seconds, however many have missed', async () => {
		await ask(10);
		for (let nth = 0; nth < 10; nth++) await leave(5);
		now += 3_999;
		expect(await read(1, MISSED)).toBe(0);
		now += 1;

		expect(await read(1, MISSED)).toBe(1);
	});

	test('use no allowance if they find something', async () => {
		await read(14, MISSED);

		expect(await read(100, FOUND)).toBe(100);
		expect(await read(2, MISSED)).toBe(1);
	});

	test('count as misses while they are under way', async () => {
		await read(13, MISSED);
		const outcomes = await ask(3);
		expect(outcomes).toEqual([true, true, undefined]);

		await leave(FOUND);
		expect(outcomes).toEqual([true, true, true]);
	});

	test('are rejected in the queue once the allowance is used up', async () => {
		await read(13, MISSED);
		const outcomes = await ask(3);

		await leave(MISSED);
		expect(outcomes).toEqual([true, true, undefined]);
		await leave(MISSED);

		expect(outcomes).toEqual([true, true, false]);
	});

	test('never overtake those in the queue', async () => {
		await read(14, MISSED);
		await ask(1);
		const waiting = await ask(1);
		now += MINUTE;
		const next = await ask(1);
		expect([waiting, next]).toEqual([[undefined], [undefined]]);

		await leave(FOUND);

		expect([waiting, next]).toEqual([[true], [true]]);
	});

	test('run as many at once as the service allows, or none', async () => {
		let left = 2;
		limiter = new ReadLimiter(MISSES, () => left);
		const outcomes = await ask(3);
		expect(outcomes).toEqual([true, true, undefined]);

		left = -1;
		await leave(FOUND);
		expect(outcomes).toEqual([true, true, undefined]);
		await leave(FOUND);
		expect(outcomes).toEqual([true, true, false]);
		expect(await ask(1)).toEqual([false]);
		left = 0.5;
		expect(await ask(1)).toEqual([true]);
	});

	test('are limited by lane and account', async () => {
		const account = (apiToken: string) =>
			readAccount({ baseUrl: 'https://api.example.com/v1', apiToken });
		const [one, other] = [account('test-token-bounds-1'), account('test-token-bounds-2')];
		limiter = readLimiterFor(one, 'unverified');
		await read(20, MISSED);

		limiter = readLimiterFor(one, 'unverified');
		expect(await read(1, MISSED)).toBe(0);
		limiter = readLimiterFor(other, 'unverified');
		expect(await read(20, MISSED)).toBe(15);
		limiter = readLimiterFor(one, 'seen');
		expect(await read(400, MISSED)).toBe(300);
	});
});
