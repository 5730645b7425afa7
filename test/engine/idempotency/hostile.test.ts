import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { crashedData, NodeProcess } from '../../helpers/engine';
import { callTool } from '../../helpers/tool';
import { codeIn, customers, errorOf, OWN_CUSTOMER, retryable, useShop } from '../../helpers/charging';

const MONTH_MS = 86_400_000 * 30;

describe('hostile', () => {
	const shop = useShop();
	const at = (price: string, more = {}) => ({
		cart: { items: [{ offerHash: shop.offer, price }] },
		...more,
	});
	const lost = async (ask = {}) => {
		shop.fault('lose');
		const outcome = await shop.ask(ask);
		return { outcome, hash: shop.hashes.at(-1) ?? '' };
	};

	test('1 a doubt that a code has closed on another worker is closed on the first', async () => {
		const other = NodeProcess.fresh();
		shop.fault('drop');
		await shop.ask();
		const code = codeIn(await shop.ask({ process: other }));
		await shop.charge({ code, process: other });
		await clock.sleep(MONTH_MS);
		await shop.charge();
		expect(shop.charges).toBe(2);
	});

	test('1b ... its hash is not given to the next order', async () => {
		const other = NodeProcess.fresh();
		shop.fault('drop');
		await shop.ask();
		const code = codeIn(await shop.ask({ process: other }));
		await shop.charge({ code, process: other });
		const [hash = ''] = shop.hashes;
		await shop.latestBecomes('paid');
		await clock.sleep(MONTH_MS);
		const next = await shop.ask({ code: hash });
		expect(next.json[0]?.hash).not.toBe(hash);
	});

	test('2 a doubt that a hash has closed on another worker', async () => {
		const other = NodeProcess.fresh();
		const { hash } = await lost();
		await shop.charge({ code: hash, process: other });
		await clock.sleep(MONTH_MS);
		await shop.charge();
		expect(shop.charges).toBe(2);
	});

	test('2b with orders', async () => {
		const other = NodeProcess.fresh();
		const { hash } = await lost({ order: 'jan' });
		await shop.charge({ order: 'jan', code: hash, process: other });
		await clock.sleep(MONTH_MS);
		await shop.charge({ order: 'feb' });
		expect(shop.charges).toBe(2);
	});

	test('2c order closed by code elsewhere: the first worker', async () => {
		const other = NodeProcess.fresh();
		shop.fault('drop');
		await shop.ask({ order: 'jan' });
		const code = codeIn(await shop.ask({ order: 'jan', process: other }));
		await shop.charge({ order: 'jan', code, process: other });
		const again = await shop.ask({ order: 'jan', code: shop.hashes[0] });
		console.log('2c', errorOf(again), again.json);
		await shop.charge({ order: 'feb' });
		expect(shop.charges).toBe(2);
	});

	test('3 a hash that cannot be read now', async () => {
		const { hash } = await lost();
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const refused = await shop.ask({ code: hash });
		console.log('3', errorOf(refused));
		expect(codeIn(refused)).toBe('');
	});

	test('3b a hash that cannot be read yet', async () => {
		const { hash } = await lost();
		shop.account.fault('read', { kind: 'status', status: 404 }, 'always');
		const refused = await shop.ask({ code: hash });
		console.log('3b', errorOf(refused));
		expect(codeIn(refused)).toBe('');
	});

	test.each([true, false])('4 hash left in form, references added later, restart %s', async (isRestart) => {
		const { hash } = await lost();
		await shop.charge({ code: hash });
		await shop.latestBecomes('paid');
		await clock.sleep(MONTH_MS);
		const where = isRestart ? { process: NodeProcess.fresh() } : {};
		shop.fault('drop');
		await shop.ask({ order: 'feb', code: hash, ...where });
		const feb = await shop.ask({ order: 'feb', code: hash, ...where });
		expect(feb.json[0]?.hash).not.toBe(hash);
	});

	test.each([true, false])('5 hash left in form, references removed later, restart %s', async (isRestart) => {
		const { hash } = await lost({ order: 'jan' });
		await shop.charge({ order: 'jan', code: hash });
		await shop.latestBecomes('paid');
		await clock.sleep(MONTH_MS);
		const where = isRestart ? { process: NodeProcess.fresh() } : {};
		shop.fault('drop');
		await shop.ask({ code: hash, ...where });
		const feb = await shop.ask({ code: hash, ...where });
		expect(feb.json[0]?.hash).not.toBe(hash);
	});

	test('6 corrected reference in a Retry of a doubt', async () => {
		const { outcome, hash } = await lost({ order: 'orde-1' });
		const refused = await shop.ask({ order: 'order-1', retrying: outcome, code: hash });
		console.log('6', errorOf(refused));
		expect(errorOf(refused)).toContain('set the price and Order Reference back');
	});

	test('7 the crashed execution is retried again with its hash, after a restart', async () => {
		const { begun } = await shop.charge();
		const [hash = ''] = shop.hashes;
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		await shop.charge({ retryOf, process: NodeProcess.fresh(), code: hash });
		const again = await shop.ask({ retryOf, process: NodeProcess.fresh(), code: hash });
		expect(errorOf(again)).toContain('leave this item out');
	});

	test('9 a doubt closed by hash in another execution, then Retry of the first after a restart', async () => {
		const { outcome, hash } = await lost();
		await shop.charge({ code: hash });
		const again = await shop.ask({ retrying: outcome, process: NodeProcess.fresh(), code: hash });
		expect(errorOf(again)).toContain('leave this item out');
	});

	test('9b order: a doubt closed by hash in another execution, then Retry of the first after a restart', async () => {
		const { outcome, hash } = await lost({ order: 'o1' });
		await shop.charge({ code: hash, order: 'o1' });
		const again = await shop.ask({ order: 'o1', retrying: outcome, process: NodeProcess.fresh(), code: hash });
		console.log('9b', errorOf(again));
		expect(again.json[0]?.hash).toBe(hash);
	});

	test('12 a doubt, then code from refusal, 422, then again', async () => {
		const { hash } = await lost({ order: 'o1' });
		const code = codeIn(await shop.ask({ order: 'o1' }));
		shop.fault('refuse');
		await shop.ask({ order: 'o1', code });
		const again = await shop.ask({ order: 'o1' });
		expect(errorOf(again)).toContain('may already');
		const given = await shop.charge({ order: 'o1', code: hash });
		expect(given.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});

	test('13 code, lost again, each by hash', async () => {
		const first = await lost();
		const code = codeIn(await shop.ask());
		const second = await lost({ code });
		const given = await shop.charge({ code: second.hash });
		expect(given.json[0]?.hash).toBe(second.hash);
		const retry = await shop.ask({ retrying: first.outcome, code: first.hash });
		console.log('13', errorOf(retry), retry.json, first.hash, second.hash);
		expect(shop.charges).toBe(2);
	});

	test('14 a void charge in a Retry, and the spent hash of last month in the form', async () => {
		const jan = await lost();
		await shop.charge({ code: jan.hash });
		await shop.latestBecomes('paid');
		await clock.sleep(MONTH_MS);
		const items = [{ n: 1 }, { n: 2 }];
		const more = { customerDocument: '={{ ["529.982.247-25", "111.444.777-35"][$json.n - 1] }}' };
		shop.fault('refuse', 1);
		const feb = await shop.ask({ items, more, code: jan.hash });
		await shop.account.sandbox.setStatus(shop.hashes.at(-1) ?? '', 'expired');
		for (const process of [undefined, NodeProcess.fresh()]) {
			const retry = await shop.ask({ items, more, code: jan.hash, retrying: feb, process });
			console.log('14', errorOf(retry), retry.json.map(({ hash }) => hash), jan.hash);
			expect(retry.json[0]?.hash).not.toBe(jan.hash);
		}
	});

	test('15 typed price changed while in doubt, with order', async () => {
		const { hash } = await lost({ order: 'o1', more: at('19,90') });
		const refused = await shop.ask({ order: 'o1', more: at('25'), code: hash });
		console.log('15', errorOf(refused));
		const fresh = await shop.ask({ order: 'o1', more: at('25'), code: hash, process: NodeProcess.fresh() });
		console.log('15 restarted', errorOf(fresh));
	});

	test('16 quantity changed after a crash', async () => {
		const { begun } = await shop.charge({ more: at('19,90') });
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		const two = { cart: { items: [{ offerHash: shop.offer, price: '19,90', quantity: 2 }] } };
		await shop.ask({ more: two, retryOf, process: NodeProcess.fresh() });
		console.log('16 charges', shop.charges);
	});

	test('17 process clears: agents, a doubt, other cart', async () => {
		const call = async (more: Record<string, string>, code = '') => {
			const parameters = shop.parameters(undefined, { ...more, options: { repeatCode: code } });
			const { credentials } = shop.account;
			return await callTool(parameters, [{}], { credentials, workflowId: `${shop.workflowId} chat` });
		};
		shop.fault('lose');
		await call({});
		clearProcessState();
		const again = await call({ customerEmail: 'other@example.com' });
		console.log('17', again.errors.join(), shop.charges);
		expect(shop.charges).toBe(1);
	});

	test('18 leftover hash, retry of other execution, two doubts on two workers at once', async () => {
		const other = NodeProcess.fresh();
		const { hash } = await lost();
		const [a, b] = await Promise.all([
			shop.ask({ code: hash }),
			shop.ask({ code: hash, process: other }),
		]);
		console.log('18', a.json[0]?.hash, errorOf(a), b.json[0]?.hash, errorOf(b), hash, shop.charges);
	});

	test('19 order moved: an order without reference is given by Retry w/ reference on another worker', async () => {
		const each = { items: customers(3), more: OWN_CUSTOMER };
		shop.fault('refuse', 2);
		const failed = await shop.ask(each);
		const numbered = { order: '={{ "o-" + $json.n }}' };
		await shop.charge({ ...each, ...numbered, retrying: failed, process: NodeProcess.fresh() });
		const refused = await shop.ask({ ...each, ...numbered });
		console.log('19', errorOf(refused));
		expect(shop.charges).toBe(3);
		const given = await shop.charge({ ...each, ...numbered, code: shop.hashes.join(',') });
		expect(given.json.map(({ hash }) => hash)).toEqual(shop.hashes);
	});

	test('20 retryable of a success, with changed quantity, keeps', async () => {
		const made = await shop.charge({ more: at('19,90') });
		const two = { cart: { items: [{ offerHash: shop.offer, price: '19,90', quantity: 2 }] } };
		const r = await shop.ask({ more: two, retryOf: retryable(made) });
		console.log('20', errorOf(r));
		expect(shop.charges).toBe(1);
	});
});
