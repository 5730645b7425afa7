import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { crashedData, type NodeOutcome, NodeProcess } from '../../helpers/engine';
import { errorIn } from '../../helpers/account';
import {
	type Ask,
	codeIn,
	customers,
	errorOf,
	MAYBE,
	OWN_CUSTOMER,
	otherProcess,
	PROCESSES,
	retryable,
	useShop,
} from '../../helpers/charging';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { aroundInserts } from '../../helpers/database';
import { callTool } from '../../helpers/tool';

const ANA = {
	customerName: 'Ana',
	customerEmail: 'ana@example.com',
	customerPhone: '(11) 91234-5678',
};
const PEDRO = {
	customerName: 'Pedro',
	customerEmail: 'pedro@example.com',
	customerPhone: '(21) 98765-4321',
};
const JOAO = { customerDocument: '111.444.777-35' };
const FIFTY = { additionalFields: { amount: '50' } };

describe('A charge in doubt whose hash somebody enters', () => {
	const shop = useShop();

	/** A charge that was made although no answer came. */
	const lost = async (ask = {}): Promise<{ outcome: NodeOutcome; hash: string }> => {
		shop.fault('loseAnswer');
		const outcome = await shop.ask(ask);
		return { outcome, hash: shop.hashes.at(-1) ?? '' };
	};

	test.each(PROCESSES)('is returned, known, and no longer in doubt, %s', async (_when, where) => {
		const ask = { order: '2026-10', ...where() };
		const { hash } = await lost({ order: '2026-10' });
		const given = await shop.charge({ ...ask, code: hash });
		const again = await shop.charge(ask);
		// The same customer, cart and amount.
		await shop.charge({ ...where(), order: '2026-11' });

		expect([given, again].map(({ json }) => json[0]?.hash)).toEqual([hash, hash]);
		expect(shop.charges).toBe(2);
		await shop.charge({ order: '2026-12', ...otherProcess() });
	});

	test('is returned even if the service masks its customer', async () => {
		const { hash } = await lost();
		const set = {
			customer: { name: 'MARIA DA SILVA', document: '***.982.247-**', email: 'm***@example.com' },
		};
		shop.account.fault('read', { kind: 'patchBody', set });
		const { json, hints } = await shop.charge({ code: hash });

		expect(json[0]?.hash).toBe(hash);
		expect(JSON.stringify(hints)).not.toContain('another');
	});

	test('is returned by the Retry of the execution that requested it', async () => {
		const { outcome, hash } = await lost();
		await shop.charge({ code: hash });
		const retry = await shop.charge({ retrying: outcome });

		expect(retry.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});

	test('is returned even if its code was entered, too, and that code is used up', async () => {
		const { hash } = await lost({ order: 'order-1' });
		const code = codeIn(await shop.ask({ order: 'order-1' }));
		await shop.charge({ order: 'order-1', code: `${code}, ${hash}` });
		await shop.ask({ order: 'order-1', code, ...otherProcess() });

		expect(shop.charges).toBe(1);
	});

	test('is returned to its own item if several hashes are entered', async () => {
		const items = [{ n: 0 }, { n: 1 }, { n: 2 }];
		const documents = ['529.982.247-25', '111.444.777-35', '123.456.789-09'];
		const more = { customerDocument: `={{ ${JSON.stringify(documents)}[$json.n] }}` };
		for (let nth = 0; nth < 3; nth++) shop.fault('loseAnswer');
		await shop.ask({ items, more, continueOnFail: true });
		const code = [...shop.hashes].reverse().join(', ');
		const given = await shop.charge({ items, more, code });

		expect(given.json.map(({ hash }) => hash)).toEqual(shop.hashes);
		expect(shop.charges).toBe(3);
	});

	test('is returned to the first of two items under Continue, and the refusal of the second says so', async () => {
		const items = [{ n: 0 }, { n: 1 }];
		const more = { customerDocument: '={{ ["529.982.247-25", "111.444.777-35"][$json.n] }}' };
		for (let nth = 0; nth < 2; nth++) shop.fault('loseAnswer');
		await shop.ask({ items, more, continueOnFail: true });
		const [first = '', second = ''] = shop.hashes;
		const code = `7KQ2-M4XD, ${first}`;
		const refused = await shop.ask({ items, more, code, continueOnFail: true });
		const { advice } = errorIn(refused.json[1]);

		expect(refused.json[0]?.hash).toBe(first);
		expect(advice).toContain(`Transaction ${first} has another Customer CPF or CNPJ.`);
		expect(advice).toContain('No code or hash that was entered ends this doubt.');
		expect(advice).toContain('Separate several with commas.');
		const given = await shop.charge({ items: items.slice(1), more, code: second });
		expect(given.json[0]?.hash).toBe(second);
		expect(shop.charges).toBe(2);
	});

	test('is listed as existing, not as created, if the run fails at another item', async () => {
		const items = customers(2);
		const { hash } = await lost({ items: items.slice(0, 1), more: OWN_CUSTOMER });
		shop.fault('refuse');
		const failed = await shop.ask({ items, more: OWN_CUSTOMER, code: hash });

		const existed = `These existed before this execution: item 0 is ${hash}.`;
		expect(errorOf(failed)).toContain(existed);
		expect(errorOf(failed)).not.toContain('Already created');
		// The doubt is over, so a new execution would charge that customer again.
		expect(errorOf(failed)).toContain(
			'A new execution would create again the successful items that had no Order Reference',
		);
		shop.fault('refuse');
		const retry = await shop.ask({ items, more: OWN_CUSTOMER, code: hash, retrying: failed });
		expect(errorOf(retry)).toContain(existed);
	});

	test('is listed as created in the Retry of the execution that made it', async () => {
		const items = customers(2);
		const { outcome, hash } = await lost({ items, more: OWN_CUSTOMER });
		shop.fault('refuse');
		const retry = await shop.ask({ more: OWN_CUSTOMER, code: hash, retrying: outcome });

		expect(errorOf(retry)).toContain(`Already created in this execution: item 0 is ${hash}.`);
		expect(errorOf(retry)).not.toContain('These existed');
	});

	describe('is not replaced by another charge: the refusal says why, and has a code, for the hash of', () => {
		test.each<[string, string, () => Promise<string>]>([
			['another CPF', 'Customer CPF or CNPJ', async () => await madeFor({ ...JOAO, ...FIFTY })],
			[
				'another amount',
				'amount (R$ 50,00; to accept it, set Additional Fields > Amount in Reais to 50,00 in a new execution with this item alone, then remove it)',
				async () => await madeFor(FIFTY),
			],
			['an expired charge', '', async () => await expired()],
		])('%s', async (_whose, what, other) => {
			const hash = await other();
			await lost({ order: 'order-1' });
			const { posts } = shop;
			for (const where of [{}, otherProcess()]) {
				const refused = await shop.ask({ order: 'order-1', code: hash, ...where });

				expect(errorOf(refused)).toContain(MAYBE);
				expect(errorOf(refused)).toContain(
					'No code or hash that was entered ends this doubt. A code works once',
				);
				// This process knows whose charge it is, and reads nothing.
				const isTold = what !== '' && 'process' in where;
				const told = isTold ? `Transaction ${hash} has another ${what}.` : '';
				expect(errorOf(refused).replace('\u00a0', ' ')).toContain(told);
			}
			expect(shop.posts).toBe(posts);
			const code = codeIn(await shop.ask({ order: 'order-1', code: hash }));
			await shop.charge({ order: 'order-1', code });
		});

		const madeFor = async (more: INodeParameters): Promise<string> =>
			String((await shop.charge({ more })).json[0]?.hash);
		const expired = async (): Promise<string> => {
			const hash = await madeFor({});
			await shop.latestBecomes('expired');
			return hash;
		};
	});

	test.each(['zzzz9999zz', '7KQ2M4XD', 'https://panel.example/t/ab12'])(
		'is refused without a code while the field has %s, which the service does not know',
		async (unknown) => {
			const { hash } = await lost();
			const refused = await shop.ask({ code: unknown });

			expect(errorOf(refused)).toContain(`but transaction ${unknown} was not found`);
			expect(errorOf(refused)).toContain('Check this hash in Options > Charge in Doubt.');
			expect(errorOf(refused)).not.toMatch(/\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/);
			expect(codeIn(await shop.ask())).not.toBe('');
			expect((await shop.charge({ code: hash })).json[0]?.hash).toBe(hash);
			expect(shop.charges).toBe(1);
		},
	);

	test('is returned to its order even if another order of the customer is in doubt', async () => {
		await shop.ask({ order: 'feb' });
		const [hash = ''] = shop.hashes;
		const { process } = otherProcess();
		const { hash: other } = await lost({ order: 'jan', process });

		const given = await shop.charge({ order: 'feb', process, code: hash });
		const refused = await shop.ask({ order: 'mar', process });
		const alsoGiven = await shop.charge({ order: 'jan', process, code: other });

		expect([given, alsoGiven].map(({ json }) => json[0]?.hash)).toEqual([hash, other]);
		expect(errorOf(refused)).toContain(MAYBE);
		expect(shop.charges).toBe(2);
	});

	test.each(['expired', 'charged by another worker'])(
		'is not returned to another order of the customer, which is %s',
		async (how) => {
			const where = how === 'expired' ? {} : otherProcess();
			await shop.charge({ order: 'feb', ...where });
			if (how === 'expired') await shop.latestBecomes('expired');
			const { hash } = await lost({ order: 'jan' });

			const refused = await shop.ask({ order: 'feb', code: hash });
			const given = await shop.charge({ order: 'jan', code: hash });

			expect(errorOf(refused)).toContain('No code or hash that was entered ends this doubt');
			expect(given.json[0]?.hash).toBe(hash);
			expect(shop.charges).toBe(2);
		},
	);

	test('is not returned to another order, which can be charged with its own code', async () => {
		const { hash } = await lost({ order: '2026-10' });
		const refused = await shop.ask({ order: '2026-11', code: hash });

		expect(errorOf(refused)).toContain(
			'A hash works once, for a charge of this customer, amount and order',
		);
		expect(errorOf(refused)).toContain('set price, customer and Order Reference back');
		const charged = await shop.charge({ order: '2026-11', code: codeIn(refused) });
		expect(charged.json[0]?.hash).toBe(shop.hashes[1]);
	});

	test.each(PROCESSES)('is not confused with an earlier order, %s', async (_when, where) => {
		const earlier = await shop.charge({ order: '2026-09' });
		const { hash } = await lost({ order: '2026-10' });
		const wrong = String(earlier.json[0]?.hash);
		await shop.refused({ order: '2026-10', code: wrong, ...where() });
		const given = await shop.charge({ order: '2026-10', code: `${wrong}, ${hash}`, ...where() });

		expect(given.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(2);
	});

	test.each(['hash', 'code'])(
		'is no longer in doubt on the worker that sent it if its %s was entered on another worker',
		async (how) => {
			const { hash } = await lost({ order: '2026-10' });
			const elsewhere = { order: '2026-10', ...otherProcess() };
			const code = how === 'hash' ? hash : codeIn(await shop.ask(elsewhere));
			await shop.charge({ ...elsewhere, code });
			const { charges } = shop;
			await shop.charge({ order: '2026-11' });

			expect(shop.charges).toBe(charges + 1);
		},
	);

	test('is refused without a code while it cannot be read', async () => {
		const { hash } = await lost();
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const refused = await shop.ask({ code: hash });
		shop.account.sandbox.clearFaults();

		expect(errorOf(refused)).toContain(`but transaction ${hash} could not be read`);
		expect(errorOf(refused)).toContain('wait a few minutes, then run this again.');
		expect(codeIn(refused)).toBe('');
		const given = await shop.charge({ code: hash });
		expect(given.json[0]?.hash).toBe(hash);
	});

	test('is not made again if the database fails while its hash is entered', async () => {
		const { hash } = await lost();
		const given = new Set<unknown>();
		let retrying: NodeOutcome | undefined;
		for (let nth = 1; given.size === 0 && nth <= 20; nth++) {
			aroundInserts(async (enter, count) => {
				if (count >= nth) throw new Error('down');
				return await enter();
			});
			const outcome: NodeOutcome = await shop.ask({ code: hash, retrying });
			const { json, status } = outcome;
			retrying = outcome;
			jest.restoreAllMocks();
			if (status === 'success') given.add(json[0]?.hash);
		}

		expect([...given]).toEqual([hash]);
		expect(shop.charges).toBe(1);
	});

	test('is returned even if the hash was pasted with invisible characters', async () => {
		const { hash } = await lost();
		const given = await shop.charge({ code: `\u200b${hash}\u200b` });

		expect(given.json[0]?.hash).toBe(hash);
	});

	test('a code is accepted even if a hash next to it cannot be read', async () => {
		const code = await shop.codeFor();
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		await shop.charge({ code: `zzzz9999zz, ${code}` });

		expect(shop.charges).toBe(1);
	});

	test('that another run has returned is refused to the Retry of the first run, and the error says to leave the item out', async () => {
		const { outcome, hash } = await lost();
		await shop.charge({ code: hash });
		const retry = await shop.ask({ retrying: outcome, code: hash, ...otherProcess() });

		expect(errorOf(retry)).toContain(
			'If another run has returned that charge, leave this item out.',
		);
	});

	test('is not charged again by a new execution after a crash, whose Retry was refused', async () => {
		const items = customers(2);
		const asked = { more: OWN_CUSTOMER, items, continueOnFail: true };
		const { begun } = await shop.ask({ ...asked, ...otherProcess() });
		const process = NodeProcess.fresh();
		const retryOf = crashedData(begun, [{ name: 'Digital Sales', finished: false }]);
		const retried = await shop.ask({ ...asked, process, retryOf });
		const [hash] = shop.hashes;
		const alone = { ...asked, items: items.slice(0, 1), process, code: hash };
		const refused = errorIn((await shop.ask(alone)).json[0]);

		expect(errorIn(retried.json[0]).advice).toContain('then run this item again');
		expect(refused.message).toContain(`Transaction ${hash} may be the charge of this item`);
		expect(refused.advice).toContain('continue with it (Transaction > Get)');
		expect(shop.charges).toBe(2);
	});

	test.each(PROCESSES)(
		'is not given to another order of the customer that is not in doubt, %s',
		async (_, where) => {
			const cart = { items: [{ offerHash: shop.offer, quantity: '={{ $json.q }}' }] };
			const asked: Ask = { order: '={{ $json.order }}', more: { cart, ...FIFTY } };
			const one = { q: 1, order: 'order-1' };
			const two = { q: 3, order: 'order-2' };
			const { hash } = await lost({ ...asked, items: [one] });
			const { process } = where();
			const refused = await shop.ask({ ...asked, items: [two, one], code: hash, process });
			const given = await shop.charge({ ...asked, items: [one], code: hash, process });

			expect(errorOf(refused)).toContain(`Transaction ${hash} may be the charge of this item`);
			expect(given.json[0]?.hash).toBe(hash);
			expect(shop.charges).toBe(1);
		},
	);

	test.each(PROCESSES)(
		'does not keep another order of the customer from being charged, %s',
		async (_, where) => {
			shop.sells(9_700);
			const cart = { items: [{ offerHash: shop.offer, price: '', quantity: '={{ $json.q }}' }] };
			const one = { q: 1, order: 'order-1' };
			const three = { q: 3, order: 'order-2' };
			const asked: Ask = { order: '={{ $json.order }}', more: { cart } };
			const { hash } = await lost({ ...asked, items: [one] });
			const { json } = await shop.charge({ ...asked, items: [three, one], code: hash, ...where() });

			expect(json[1]?.hash).toBe(hash);
			expect(shop.account.bodies().map(({ amount }) => amount)).toEqual([9_700, 29_100]);
		},
	);

	test('is returned to the execution that requested it, even if its Retry has an Order Reference now', async () => {
		const { outcome, hash } = await lost();
		await shop.charge({ code: hash });
		const retried = await shop.charge({ order: 'order-1', retrying: outcome });

		expect(retried.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});

	test('can still be entered after the check of another item has stopped the run', async () => {
		const items = customers(2);
		for (const item of items) {
			shop.fault('loseAnswer');
			await shop.ask({ more: OWN_CUSTOMER, items: [item], mode: 'integrated' });
		}
		const [first, second] = shop.hashes;
		const asked: Ask = { more: OWN_CUSTOMER, items, mode: 'integrated' };
		const stopped = await shop.ask({ ...asked, code: first });
		const given = await shop.charge({ ...asked, code: `${first}, ${second}` });

		expect(stopped.status).toBe('error');
		expect(given.json.map(({ hash }) => hash)).toEqual([first, second]);
		expect(shop.charges).toBe(2);
	});

	test('is returned to the Retry of a Retry that crashed', async () => {
		const crash = (outcome: NodeOutcome) =>
			crashedData(outcome.begun, [{ name: 'Digital Sales', finished: false }]);
		const first = await shop.ask(otherProcess());
		const [hash] = shop.hashes;
		const asked = { code: hash };
		const second = await shop.charge({ ...asked, retryOf: crash(first), ...otherProcess() });
		const third = await shop.charge({ ...asked, retryOf: crash(second), ...otherProcess() });

		expect(third.json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});

	test('is returned to the Retry of its execution on a worker that knows the charge from another Retry', async () => {
		const process = NodeProcess.fresh();
		const { outcome, hash } = await lost({ order: 'order-1' });
		const given = await shop.charge({ order: 'order-1', code: hash });
		await shop.charge({ retryOf: retryable(given), process });
		const asked: Ask = { order: 'order-1', code: hash, retryOf: retryable(outcome), process };

		expect((await shop.charge(asked)).json[0]?.hash).toBe(hash);
		expect(shop.charges).toBe(1);
	});

	test('is not returned to another order under another Base URL', async () => {
		const { hash } = await lost({ order: 'order-1' });
		await shop.charge({ order: 'order-1', code: hash });
		const credentials = shop.account.credentialsElsewhere();
		shop.fault('loseRequest');
		await shop.ask({ order: 'order-2', credentials });
		const given = await shop.ask({ order: 'order-2', code: hash, credentials });

		expect(given.json[0]?.hash).not.toBe(hash);
	});

	describe.each([[undefined], ['order-2']])(
		'if a second charge of the customer with reference %s is in doubt,',
		(order) => {
			const twoLost = async () => {
				const one = await lost();
				const code = codeIn(await shop.refused({ order }));
				const two = await lost({ order, code });
				return { one, two };
			};

			test('each hash is returned to its own Retry', async () => {
				const { one, two } = await twoLost();
				await shop.charge({ code: one.hash, retrying: one.outcome });
				const given = await shop.charge({ order, code: two.hash, retrying: two.outcome });

				expect(given.json[0]?.hash).toBe(two.hash);
				expect(shop.charges).toBe(2);
			});

			test('the first hash does not end the second doubt', async () => {
				const { one, two } = await twoLost();
				await shop.charge({ code: one.hash, retrying: one.outcome });
				await shop.account.sandbox.setStatus(one.hash, 'expired');
				await shop.refused({ order, retrying: two.outcome });

				expect(shop.charges).toBe(2);
			});
		},
	);

	test.each([[undefined], ['order-1']])(
		'is not ended by the hash of the charge that a code allowed in another execution, for reference %s',
		async (order) => {
			shop.fault('loseRequest');
			const dropped = await shop.ask({ order });
			const code = codeIn(await shop.refused());
			const made = String((await shop.charge({ code })).json[0]?.hash);
			const given = await shop.ask({ order, code: made, retrying: dropped });

			expect(given.json[0]?.hash).not.toBe(made);
		},
	);

	test('without a doubt, its customer is not charged until the hash is removed', async () => {
		const hash = String((await shop.charge()).json[0]?.hash);
		const refused = await shop.ask({ code: hash });

		expect(errorOf(refused)).toContain('may be the charge of this item, so nothing was sent');
		expect(errorOf(refused)).toContain('remove the hash from Options > Charge in Doubt');
		expect(shop.charges).toBe(1);
		await shop.charge();
		expect(shop.charges).toBe(2);
	});

	test('without a doubt, the charges of other customers are made, and the hash is read once', async () => {
		const hash = String((await shop.charge()).json[0]?.hash);
		clearProcessState();
		const items = customers(3);
		await shop.charge({ more: OWN_CUSTOMER, items, code: hash });

		expect(shop.charges).toBe(4);
		expect(shop.account.reads(hash)).toBe(1);
	});

	test('without a doubt, a hash that the service does not know is refused', async () => {
		const refused = await shop.ask({ code: 'unknown1' });

		expect(errorOf(refused)).toContain(
			'Transaction unknown1 in Options > Charge in Doubt was not found',
		);
		expect(shop.charges).toBe(0);
	});

	describe('of a customer who shares a document with another', () => {
		test.each(PROCESSES)('is not returned to the other, %s', async (_when, where) => {
			const { hash } = await lost({ more: ANA });
			await shop.latestBecomes('paid');
			const next = await shop.ask({ more: PEDRO, code: hash, ...where() });

			expect(next.json[0]?.hash).not.toBe(hash);
		});

		test('is not returned to both, if both are retried with its hash, newest first', async () => {
			const one = await lost({ more: ANA });
			const two = await shop.refused({ more: PEDRO });
			const retryTwo = await shop.ask({ more: PEDRO, code: one.hash, retrying: two });
			const retryOne = await shop.ask({ more: ANA, code: one.hash, retrying: one.outcome });
			const given = [retryOne, retryTwo].map(({ json }) => json[0]?.hash);

			expect(given).not.toEqual([one.hash, one.hash]);
		});
	});

	test('is not said to be that of a new customer if its hash is left in the form and cannot be read', async () => {
		const { hash } = await lost({ more: ANA });
		await shop.charge({ more: ANA, code: hash });
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const more = { customerDocument: '111.444.777-35' };
		const other = await shop.ask({ more, code: hash, ...otherProcess() });

		expect(errorOf(other)).not.toContain(MAYBE);
	});

	test('is returned by its hash on a worker that remembers an earlier doubt, which another worker has ended', async () => {
		const process = NodeProcess.fresh();
		shop.fault('loseAnswer');
		await shop.ask({ order: 'order-1' });
		await shop.charge({ order: 'order-1', code: shop.hashes[0], process });
		shop.fault('loseAnswer');
		await shop.ask({ order: 'order-2', process });
		const here = await shop.ask({ order: 'order-2', code: shop.hashes[1] });

		expect(errorOf(here)).not.toContain('for order "order-1"');
		expect(here.json[0]?.hash).toBe(shop.hashes[1]);
	});
});

describe('A code', () => {
	const shop = useShop();

	test('that is wrong or too old is refused, and the error says so', async () => {
		const code = await shop.codeFor();
		const of = (entered: string) => shop.ask({ code: entered }).then(errorOf);

		const told = 'No code or hash that was entered ends this doubt. A code works once';
		expect(await of('')).not.toContain(told);
		expect(await of('AAAA-BBBB, CCCC-DDDD')).toContain(told);
		await pause(3 * 86_400_000);
		expect(await of(code)).toContain(told);
	});

	test.each<[string, IDataObject]>([
		['transaction', {}],
		['offer', { title: 'Oferta', price: '10', productHash: { __rl: true, mode: 'hash' } }],
	])('of a %s cannot be filled in by a model', async (resource, more) => {
		const repeatCode = "={{ $fromAI('repeatCode', '', 'string') }}";
		const parameters = {
			...shop.parameters(undefined, { options: { repeatCode } }),
			...more,
			...{ resource, operation: 'create' },
		} as INodeParameters;
		const { errors } = await callTool(parameters, [{ repeatCode: 'AAAA-BBBB' }], {
			credentials: shop.account.credentials,
		});

		expect(errors.join()).toContain('must be filled in by a person, not by a model');
		expect(shop.posts).toBe(0);
	});
});
