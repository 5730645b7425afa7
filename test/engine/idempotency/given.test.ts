import { NodeProcess } from '../../helpers/engine';
import { decide, errorOf, type Ask, useShop } from '../../helpers/charging';

const DOCUMENTS = ['529.982.247-25', '111.444.777-35', '123.456.789-09'];
const OWN = { customerDocument: `={{ ${JSON.stringify(DOCUMENTS)}[$json.n - 1] }}` };
const [MARIA, JOAO] = DOCUMENTS.map((customerDocument) => ({ customerDocument }));
const THREE = { items: [{ n: 1 }, { n: 2 }, { n: 3 }], more: OWN };
const NUMBERED = { order: '={{ "order-" + $json.n }}' };

describe('An existing charge that is returned', () => {
	const shop = useShop();

	/** Charges two customers; the third is refused. */
	const failedAtThird = async (ask: Ask = {}) => {
		shop.fault('refuse', 2);
		return await shop.ask({ ...THREE, ...ask });
	};

	test.each<[string, 'loseAnswer' | 'refuse', number]>([
		['a doubt', 'loseAnswer', 1],
		['a refusal of the platform', 'refuse', 0],
	])('is known under a reference of a Retry that stops at %s', async (_what, fault, nth) => {
		for (const at of ['charge', 'read'] as const) {
			shop.account.fault(at, { kind: 'delay', ms: 300 }, 'always');
		}
		shop.fault(fault, nth);
		const failed = await shop.ask(THREE);
		if (fault === 'refuse') shop.fault('refuse');
		await shop.ask({ ...THREE, ...NUMBERED, retrying: failed });
		const stopped = shop.hashes[nth];
		const found = fault === 'loseAnswer' ? decide(`order-${nth + 1}`, stopped) : {};
		await shop.charge({ ...THREE, ...NUMBERED, ...found });

		expect(shop.charges).toBe(3);
	});

	test('for an order is also returned by a Retry, after a restart and without the reference', async () => {
		await shop.charge({ order: 'order-1', more: MARIA });
		const items = [{ n: 1 }, { n: 2 }];
		shop.fault('refuse');
		const failed = await shop.ask({ ...NUMBERED, items, more: OWN });
		shop.fault('refuse');
		const again = await shop.ask({ ...NUMBERED, items, more: OWN, retrying: failed });
		const process = NodeProcess.fresh();
		const retry = await shop.charge({ ...NUMBERED, items, more: OWN, retrying: failed, process });
		await shop.charge({ items, more: OWN, retrying: failed, process });

		expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
		expect(shop.charges).toBe(2);
		// This execution did not create the charge, and a new execution would return it again.
		for (const run of [failed, again]) {
			expect(errorOf(run)).toContain('did not accept');
			expect(errorOf(run)).not.toContain(shop.hashes[0]);
		}
	});

	describe('is never returned under a second Order Reference:', () => {
		const MONTH = { order: '={{ "2026-10-" + $json.n }}' };
		const NEXT = { order: '={{ "2026-11-" + $json.n }}' };

		test('the refusal names the charge and both references, and the first reference returns it', async () => {
			const failed = await failedAtThird(MONTH);
			const { posts } = shop;
			const refused = await shop.ask({ ...THREE, ...NEXT, retrying: failed });

			for (const said of [
				shop.hashes[0],
				'Order Reference "2026-10-1"). Asked for now',
				'Order Reference "2026-11-1"',
			]) {
				expect(errorOf(refused)).toContain(said);
			}
			expect(shop.posts).toBe(posts);
			await shop.charge({ ...THREE, ...MONTH, retrying: failed });
			await shop.charge({ ...THREE, ...NEXT });
			expect(shop.charges).toBe(6);
		});

		test('a Retry without the reference returns it, as the refusal says', async () => {
			const failed = await failedAtThird(MONTH);
			await shop.ask({ ...THREE, ...NEXT, retrying: failed });
			const retry = await shop.charge({ ...THREE, retrying: failed });

			expect(retry.json.map(({ hash }) => hash)).toEqual(shop.hashes);
			expect(shop.charges).toBe(3);
		});
	});

	test('by a Retry does not take over the reference of another customer', async () => {
		shop.fault('refuse', 1);
		const failed = await shop.ask({ items: [{ n: 1 }, { n: 3 }], more: OWN });
		await shop.charge({ order: 'order-1', more: JOAO });
		await shop.ask({ order: 'order-1', items: [{ n: 1 }, { n: 3 }], more: OWN, retrying: failed });
		const joao = await shop.charge({ order: 'order-1', more: JOAO });

		expect(joao.json[0]?.hash).toBe(shop.hashes[1]);
		expect(shop.charges).toBe(2);
	});
});
