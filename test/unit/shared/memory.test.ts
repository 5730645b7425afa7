import * as fc from 'fast-check';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { BoundedMap } from '../../../nodes/DigitalSales/shared/processState';
import { sequences } from '../../helpers/extent';

const KEYS = [...'abcdefgh'];

describe('A bounded map', () => {
	test('does not return expired entries, and evicts them with the next entry', () => {
		const now = jest.spyOn(clock, 'elapsed');
		const map = new BoundedMap<number>({ most: 10, keptMs: 100 });
		now.mockReturnValue(1_000);
		map.set('old', 1);
		now.mockReturnValue(1_050);
		map.set('recent', 2);
		expect([map.get('old'), map.get('recent')]).toEqual([1, 2]);
		now.mockReturnValue(1_100);

		expect([map.get('old'), map.get('recent')]).toEqual([undefined, 2]);
		map.set('new', 3);
		expect([map.size, map.get('new')]).toEqual([2, 3]);
		now.mockRestore();
	});

	test('keeps the newest entries, whatever was set again, deleted or cleared', () => {
		const step = fc.record({
			key: fc.constantFrom(...KEYS),
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
					held.push(KEYS.filter((one) => map.get(one) === one));
					expected.push([...keys].sort());
				}
				expect(held).toEqual(expected);
			}),
			{ numRuns: sequences(300, 1_000) },
		);
	});
});
