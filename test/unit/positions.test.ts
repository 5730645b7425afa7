import { KeySequences } from '../../nodes/DigitalSales/idempotency/positions';
import { clearProcessState } from '../../nodes/DigitalSales/shared';

/** Of n8n's Agents, which have no ledger, so that only the process knows a position. */
const sequencesOf = (...ledgerKeys: string[]): KeySequences =>
	new KeySequences({ ledgerKeys, doubtKeys: [], lastingKeys: [] }, undefined);

describe('the positions of a key', () => {
	afterEach(clearProcessState);

	test('stay known while others are only asked for, so a code that was used works no more', async () => {
		expect(await sequencesOf('order one').takeNext({ 'order one': 0 })).toBe(true);
		await sequencesOf(...Array.from({ length: 12_000 }, (_, nth) => `order ${nth}`)).read();

		expect(await sequencesOf('order one').read()).toEqual({ 'order one': 1 });
		expect(await sequencesOf('order one').takeNext({ 'order one': 0 })).toBe(false);
	});
});
