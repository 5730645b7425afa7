import { clock } from '../../../nodes/DigitalSales/api/clock';
import { ReadBounds } from '../../../nodes/DigitalSales/api/readBounds';

const MINUTE = 60_000;
const KNOWN = true;
const STRANGER = false;

describe('Reads that strangers can cause', () => {
	let bounds: ReadBounds;
	let now: number;

	beforeEach(() => {
		now = 1_000_000;
		jest.spyOn(clock, 'now').mockImplementation(() => now);
		bounds = new ReadBounds();
	});
	afterEach(() => jest.restoreAllMocks());

	/** Asks for so many reads; gives what became of each, `undefined` while it waits in line. */
	async function ask(count: number, isKnown: boolean): Promise<Array<boolean | undefined>> {
		const outcomes = new Array<boolean | undefined>(count).fill(undefined);
		outcomes.forEach((_, nth) => {
			void bounds.enter(isKnown).then((admitted) => {
				outcomes[nth] = admitted;
			});
		});
		await settled();
		return outcomes;
	}
	async function settled(): Promise<void> {
		await new Promise((resolve) => setImmediate(resolve));
	}
	const count = (outcomes: Array<boolean | undefined>, wanted: boolean | undefined): number =>
		outcomes.filter((outcome) => outcome === wanted).length;
	/** Reads so often, one after the other. */
	async function read(times: number, isKnown: boolean, foundNothing = false): Promise<number> {
		let admitted = 0;
		for (let nth = 0; nth < times; nth++) {
			if (!(await bounds.enter(isKnown))) continue;
			admitted++;
			bounds.leave(isKnown, foundNothing);
		}
		return admitted;
	}

	test('twenty are under way at once; the next waits until one has ended', async () => {
		const outcomes = await ask(21, KNOWN);
		expect([count(outcomes, true), count(outcomes, undefined)]).toEqual([20, 1]);

		bounds.leave(KNOWN, false);
		await settled();

		expect(count(outcomes, true)).toBe(21);
	});

	test('those in line come in the order in which they came', async () => {
		await ask(20, KNOWN);
		const [first] = [await ask(1, KNOWN)];
		const second = await ask(1, KNOWN);

		bounds.leave(KNOWN, false);
		await settled();

		expect([first, second]).toEqual([[true], [undefined]]);
	});

	test('256 wait in line, and no more', async () => {
		await ask(20, KNOWN);

		const outcomes = await ask(257, KNOWN);

		expect([count(outcomes, undefined), count(outcomes, false)]).toEqual([256, 1]);
		expect(outcomes.at(-1)).toBe(false);
	});

	test('thirty a minute may find nothing, and a minute later again', async () => {
		expect(await read(31, STRANGER, true)).toBe(30);
		now += MINUTE - 1;
		expect(await read(1, STRANGER, true)).toBe(0);
		now += 1;
		expect(await read(31, STRANGER, true)).toBe(30);
	});

	test('each that found nothing is forgotten when its own minute is over', async () => {
		await read(10, STRANGER, true);
		now += MINUTE / 2;
		await read(20, STRANGER, true);
		expect(await read(1, STRANGER)).toBe(0);
		now += MINUTE / 2;

		expect(await read(11, STRANGER, true)).toBe(10);
	});

	test('what is known to exist is read while strangers have used theirs up', async () => {
		await read(30, STRANGER, true);

		expect(await read(1, STRANGER)).toBe(0);
		expect(await read(5, KNOWN)).toBe(5);
	});

	test('strangers that find something use nothing up', async () => {
		expect(await read(100, STRANGER)).toBe(100);
	});

	test('a stranger under way holds a place among those that may find nothing', async () => {
		await read(28, STRANGER, true);
		const outcomes = await ask(3, STRANGER);
		const [known] = await ask(1, KNOWN);
		expect(outcomes).toEqual([true, true, undefined]);
		expect(known).toBe(true);

		bounds.leave(STRANGER, false);
		await settled();
		expect(outcomes).toEqual([true, true, true]);
	});

	test('strangers in line are turned away once the others have used up what there was', async () => {
		await read(28, STRANGER, true);
		const outcomes = await ask(3, STRANGER);

		bounds.leave(STRANGER, true);
		await settled();
		expect(outcomes).toEqual([true, true, undefined]);
		bounds.leave(STRANGER, true);
		await settled();

		expect(outcomes).toEqual([true, true, false]);
	});

	test('6,000 a minute are read in all, known ones too', async () => {
		expect(await read(6_001, KNOWN)).toBe(6_000);
		expect(await read(1, STRANGER)).toBe(0);
		now += MINUTE;
		expect(await read(1, KNOWN)).toBe(1);
	});
});
