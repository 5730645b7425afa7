import { getEventListeners } from 'node:events';
import { CanceledError, clock } from '../../../../nodes/DigitalSales/shared/clock';
import { TooLateError, Turnstile } from '../../../../nodes/DigitalSales/api/rateLimiter';

describe('A line of callers', () => {
	let free: number;
	let delayMs: number;
	let line: Turnstile<void>;
	let came: string[];

	beforeEach(() => {
		free = 0;
		delayMs = Infinity;
		came = [];
		line = new Turnstile<void>({
			wake: () => line.letOneIn(),
			delayMs: () => (free > 0 ? 0 : delayMs),
			admit: () => {
				free--;
			},
		});
	});

	const settled = async () => await new Promise((resolve) => setImmediate(resolve));
	const enter = (name: string, options?: Parameters<typeof line.enter>[0]): void => {
		void line.enter(options).then(
			() => came.push(name),
			(error: unknown) => came.push(`${name}: ${(error as Error).constructor.name}`),
		);
	};
	const giveBack = async (): Promise<void> => {
		free++;
		line.letOneIn();
		await settled();
	};

	test('lets in at once who finds it free, the others in their order', async () => {
		free = 1;
		for (const name of ['a', 'b', 'c']) enter(name);
		await settled();
		expect([came, line.length]).toEqual([['a'], 2]);

		await giveBack();
		expect(came).toEqual(['a', 'b']);
		await giveBack();
		expect([came, line.length]).toEqual([['a', 'b', 'c'], 0]);
	});

	test('is passed by nobody who comes while others wait', async () => {
		enter('a');
		free = 1;
		enter('b');
		await settled();
		expect(came).toEqual([]);

		line.letOneIn();
		await settled();
		expect(came).toEqual(['a']);
	});

	test('goes on by itself when a wait of known length is over', async () => {
		delayMs = 30;
		setTimeout(() => (free = 1), 10);

		await line.enter();

		expect(free).toBe(0);
	});

	test('asks again when it is not free at the end of a wait', async () => {
		const told: number[] = [];
		delayMs = 10;
		setTimeout(() => (free = 1), 25);

		await line.enter({ onWait: (waitMs) => told.push(waitMs) });

		expect(told.length).toBeGreaterThan(1);
		expect(new Set(told)).toEqual(new Set([10]));
	});

	test('is left at once by who is cancelled, and by who would come too late', async () => {
		const canceling = new AbortController();
		enter('a', { signal: canceling.signal });
		enter('b', { latest: clock.elapsed() + 20 });
		enter('c');
		canceling.abort();
		await settled();
		expect(came).toEqual(['a: CanceledError']);

		await new Promise((resolve) => setTimeout(resolve, 40));
		expect([came.at(-1), line.length]).toEqual(['b: TooLateError', 1]);
		await giveBack();
		expect(came.at(-1)).toBe('c');
		expect(getEventListeners(canceling.signal, 'abort')).toEqual([]);
	});

	test('turns away at once whose turn is certain to come too late', async () => {
		delayMs = 60_000;

		await expect(line.enter({ latest: clock.elapsed() + 59_000 })).rejects.toThrow(TooLateError);
	});

	test('lets nobody in who is cancelled before', async () => {
		free = 1;

		await expect(line.enter({ signal: AbortSignal.abort() })).rejects.toThrow(CanceledError);
		expect(free).toBe(1);
	});
});
