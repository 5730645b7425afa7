import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { BoundedMap, PromiseCache } from '../../../nodes/DigitalSales/shared/processState';

describe('A bounded map', () => {
	test('does not return expired entries, and evicts them with the next entry', () => {
		let now = 0;
		const map = new BoundedMap<number>({ most: 10, isExpired: (until) => until <= now });
		map.set('short', 5);
		map.set('long', 50);
		now = 10;

		expect([map.get('short'), map.get('long')]).toEqual([undefined, 50]);
		expect(map.listEntries()).toEqual([['long', 50]]);
		map.set('new', 60);
		expect(map.size).toBe(2);
	});

	test('evicts kept entries last', () => {
		const map = new BoundedMap<string>({ most: 2, isKept: (value) => value === 'kept' });
		map.set('a', 'kept');
		map.set('b', 'other');
		map.set('c', 'kept');
		expect([map.get('a'), map.get('b'), map.get('c')]).toEqual(['kept', undefined, 'kept']);

		map.set('d', 'kept');
		expect([map.get('a'), map.get('c'), map.get('d')]).toEqual([undefined, 'kept', 'kept']);
	});

	test('keeps the newest entries, whatever was set again, deleted or cleared', () => {
		const step = fc.record({
			key: fc.constantFrom(...'abcdefgh'),
			what: fc.constantFrom('set', 'set', 'set', 'delete', 'clear'),
		});
		fc.assert(
			fc.property(fc.array(step), fc.integer({ min: 1, max: 5 }), (steps, most) => {
				const map = new BoundedMap<string>({ most });
				let keys: string[] = [];
				const held: string[][] = [];
				const expected: string[][] = [];
				for (const { key, what } of steps) {
					if (what === 'set') map.set(key, key);
					else if (what === 'delete') map.delete(key);
					else map.clear();
					keys = what === 'clear' ? [] : keys.filter((one) => one !== key);
					if (what === 'set') keys = [...keys, key].slice(-most);
					held.push(map.listEntries().map(([one]) => one));
					expected.push(keys);
				}
				expect(held).toEqual(expected);
			}),
			{ numRuns: 1_000 },
		);
	});

	test('leaves no evicted entry in memory', async () => {
		const bounds = [{}, { isOver: () => false }, { isKept: () => false }];
		const maps = bounds.map((more) => new BoundedMap<object>({ most: 10, ...more }));
		const seen = maps.map((map) => {
			const refs: Array<WeakRef<object>> = [];
			for (let nth = 0; nth < 2_000; nth++) {
				const value = { nth };
				refs.push(new WeakRef(value));
				map.set(nth % 2 === 0 ? 'set anew' : `new ${nth}`, value);
				if (nth % 3 === 0) map.delete(`new ${nth}`);
			}
			return refs;
		});
		// What a WeakRef has shown stays until the turn of the event loop ends.
		await turn();
		collectGarbage();

		const left = seen.map((refs) => refs.filter((one) => one.deref() !== undefined).length);
		expect(left).toEqual(maps.map(({ size }) => size));
	});
});

function collectGarbage(): void {
	setFlagsFromString('--expose-gc');
	runInNewContext('gc()');
}

describe('A cache of promises', () => {
	let cache: PromiseCache<number>;
	let now: number;
	let tasks: number;

	beforeEach(() => {
		now = 1_000;
		tasks = 0;
		jest.spyOn(clock, 'elapsed').mockImplementation(() => now);
		cache = new PromiseCache({ most: 2, keptMs: 100 });
	});
	afterEach(() => jest.restoreAllMocks());

	const get = async (key: string): Promise<number> => await cache.get(key, async () => ++tasks);

	test('shares a task among all callers, also while it runs', async () => {
		expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual([1, 1, 2]);
		expect(await get('a')).toBe(1);
	});

	test('runs the task again after its time', async () => {
		await get('a');
		now += 99;
		expect(await get('a')).toBe(1);
		now += 1;
		expect(await get('a')).toBe(2);
	});

	test('keeps no failure, and a late failure removes no newer entry', async () => {
		let fail: (error: Error) => void = () => undefined;
		const failing = cache.get('a', async () => await new Promise((_, reject) => (fail = reject)));
		cache.clear();
		expect(await get('a')).toBe(1);

		fail(new Error('No'));
		await expect(failing).rejects.toThrow('No');

		expect(await get('a')).toBe(1);
		await expect(
			cache.get('b', async () => await Promise.reject(new Error('No'))),
		).rejects.toThrow();
		expect(await get('b')).toBe(2);
	});

	test('keeps the newest entries', async () => {
		for (const key of ['a', 'b', 'c']) await get(key);

		expect(cache.size).toBe(2);
		expect([await get('b'), await get('c')]).toEqual([2, 3]);
	});
});
