import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { turns } from '../../../../nodes/DigitalSales/notice/singleFlight';
import {
	askForTurn,
	type Asked,
	type Asking,
	type Look,
} from '../../../../nodes/DigitalSales/notice/singleFlight';
import { withoutWaiting } from '../../../support/virtualTime';

const PAUSE_MS = 3_000;
const FOUND = { transaction: { hash: 'ab12', payment_status: 'paid', json: {} } };

describe('Turns at looking at a transaction', () => {
	const real = { ...clock };
	let startedAt: number;

	beforeEach(() => {
		turns.clear();
		startedAt = real.elapsed();
		clock.elapsed = () => startedAt;
		withoutWaiting(clock);
	});
	afterEach(() => {
		Object.assign(clock, real);
		turns.clear();
	});

	const ask = async (more: Partial<Asking> = {}): Promise<Asked> =>
		await askForTurn({ subject: 'ab12', ...more });
	/** Asks for a turn that has to be granted at once, and gives what ends it. */
	const take = async (more: Partial<Asking> = {}): Promise<(look: Look) => void> => {
		const before = clock.elapsed();
		const asked = await ask(more);
		if (!asked.granted) throw new Error('The turn was not granted');
		expect(clock.elapsed()).toBe(before);
		return asked.end;
	};
	/** Has looked at the transaction a moment ago. */
	const look = async (more: Partial<Look> = {}, asking: Partial<Asking> = {}): Promise<void> =>
		(await take(asking))({ pause: true, found: FOUND, ...more });
	const seconds = async (count: number): Promise<void> => await clock.sleep(count * 1_000);
	const passed = (): number => clock.elapsed() - startedAt;

	describe('while a look is under way', () => {
		test('the same notice is told to come again', async () => {
			await take({ claim: 'paid' });

			expect(await ask({ claim: 'paid' })).toEqual({ granted: false });
		});

		test('so is one of two that state nothing', async () => {
			await take();

			expect(await ask()).toEqual({ granted: false });
		});

		test('a notice that claims something else is held, the next one told to come again', async () => {
			const end = await take({ claim: 'paid' });
			const held = ask({ claim: 'refunded' });

			expect(await ask({ claim: 'chargeback' })).toEqual({ granted: false });
			end({ pause: false });
			expect(await held).toMatchObject({ granted: true });
			expect(passed()).toBe(0);
		});

		test('not even an urgent one comes between', async () => {
			const end = await take({ claim: 'paid' });
			const urgent = ask({ urgent: true });
			let isIn = false;
			void urgent.then(() => (isIn = true));

			await seconds(1);
			expect(isIn).toBe(false);
			end({ pause: true });
			expect(await urgent).toMatchObject({ granted: true });
			expect(passed()).toBe(1_000);
		});

		test('one of another transaction is under way beside it', async () => {
			await take();

			expect(await ask({ subject: 'cd34' })).toMatchObject({ granted: true });
		});

		test('who was held until a long look has ended is told to come again, and makes room', async () => {
			const end = await take({ claim: 'paid' });
			const held = ask({ claim: 'refunded' });
			await seconds(4);
			end({ pause: true });

			expect(await held).toEqual({ granted: false });
			expect(await ask({ claim: 'refunded' })).toMatchObject({ granted: true });
			expect(passed()).toBe(4_000 + PAUSE_MS);
		});

		test('who was held for a short one waits for the end of its pause, too', async () => {
			const end = await take({ claim: 'paid' });
			const held = ask({ claim: 'refunded' });
			await seconds(1);
			end({ pause: true });

			expect(await held).toMatchObject({ granted: true });
			expect(passed()).toBe(1_000 + PAUSE_MS);
		});

		test('who was held learns what the look found where it is what the notice claims', async () => {
			const end = await take({ claim: 'waiting_payment' });
			const held = ask({ claim: 'paid' });
			end({ pause: true, found: FOUND });

			expect(await held).toEqual({ granted: false, found: FOUND });
		});
	});

	describe('in the pause after a look', () => {
		test('a notice that claims what was seen is spared its own look', async () => {
			await look();

			expect(await ask({ claim: 'paid' })).toEqual({ granted: false, found: FOUND });
			expect(passed()).toBe(0);
		});

		test('one that claims something else is looked at when the pause is over', async () => {
			await look();

			expect(await ask({ claim: 'refunded' })).toMatchObject({ granted: true });
			expect(passed()).toBe(PAUSE_MS);
		});

		test('one that claims nothing is looked at even where nothing was stated before', async () => {
			await look({ found: { transaction: { hash: 'ab12', json: {} } } });

			expect(await ask()).toMatchObject({ granted: true });
			expect(passed()).toBe(PAUSE_MS);
		});

		test('one is held for its end, the others are told to come again', async () => {
			await look();

			const [held, other] = await Promise.all([
				ask({ claim: 'refunded' }),
				ask({ claim: 'chargeback' }),
			]);

			expect(held).toMatchObject({ granted: true });
			expect(other).toEqual({ granted: false });
		});

		test('an urgent one does not wait', async () => {
			await look();

			expect(await ask({ urgent: true })).toMatchObject({ granted: true });
			expect(passed()).toBe(0);
		});

		test('nobody looks at what is over', async () => {
			await look({ over: true });

			expect(await ask({ urgent: true })).toEqual({ granted: false, over: true });
		});
	});

	test('what is over is looked at again after the pause, should anybody ask', async () => {
		await look({ over: true });
		await seconds(3);

		expect(await ask()).toMatchObject({ granted: true });
	});

	test('a look that came to nothing leaves no pause and nothing behind', async () => {
		await look({ pause: false, found: undefined });

		expect(turns.size).toBe(0);
		await take();
	});

	describe('what is remembered of looks', () => {
		const remembered = (): string[] => turns.list().map(([subject]) => subject);

		test('goes with the end of the pause', async () => {
			await look({}, { subject: 'first' });
			await seconds(1);
			await look({}, { subject: 'second' });
			await seconds(2);

			await look({}, { subject: 'third' });

			expect(remembered()).toEqual(['second', 'third']);
		});

		test('goes as well where a look began before it and is still under way', async () => {
			await take({ subject: 'long' });
			await look({}, { subject: 'first' });
			await seconds(3);

			await look({}, { subject: 'second' });

			expect(remembered()).toEqual(['long', 'second']);
		});

		test('is a thousand of them at most, those that ended last', async () => {
			const ends: Array<(look: Look) => void> = [];
			for (let nth = 0; nth <= 1_000; nth += 1) ends.push(await take({ subject: `${nth}` }));

			for (const end of ends.reverse()) end({ pause: true });

			expect(remembered()).toHaveLength(1_000);
			expect(remembered().at(-1)).toBe('0');
			expect(remembered()).not.toContain('1000');
		});
	});
});
