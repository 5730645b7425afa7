import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { CUSTOMER, openAccount } from '../../helpers/account';
import { MAYBE, retryable, useShop } from '../../helpers/charging';
import { callTool, type ToolRun } from '../../helpers/tool';

describe('The tool of an agent', () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	const call = async (more: INodeParameters = {}, options = {}, calls: IDataObject[] = [{}]) =>
		await callTool(shop.parameters(undefined, more), calls, {
			credentials: shop.account.credentials,
			workflowId: 'chat',
			...options,
		});
	const ORDER = { orderReference: 'order-1' };
	/** A model must not learn how to charge again. */
	const logOf = ({ outcome, errors }: ToolRun): string => {
		expect(errors.join()).not.toContain('Charges in Doubt');
		return outcome.logs.map(({ text }) => text).join();
	};

	test('charges a repeated call of an execution once, whatever the catalog says', async () => {
		const offerHash = { __rl: true, mode: 'list', value: shop.offer };
		const more = {
			cart: { items: [{ offerHash }] },
			additionalFields: { customFields: { amount: 700 } },
		};
		const { answers } = await call(more, {}, [{}, {}]);

		expect(answers.flat().map((json) => json.already_charged)).toEqual([false, true]);
		expect(shop.charges).toBe(1);
	});

	test('charges the same call in a later execution again, unless it has a reference, as a hint says', async () => {
		const { outcome } = await call();
		await call();

		expect(JSON.stringify(outcome.hints)).toContain('Give this tool an Order Reference');
		expect(shop.charges).toBe(2);
	});

	test('charges again in the same execution if the first charge was refused', async () => {
		shop.fault('void');
		const { answers } = await call(ORDER, {}, [{}, {}]);

		expect(answers.map(([answer]) => answer?.payment_status)).toEqual([
			'refused',
			'waiting_payment',
		]);
		expect(shop.charges).toBe(2);
	});

	test('tells a model nothing of an order in doubt for the customer that it names', async () => {
		shop.fault('loseAnswer');
		await call({ orderReference: '5511987654321, offer' });
		const { errors } = await call({ orderReference: '5521912345678, offer' });

		expect(errors[0]).toContain(MAYBE);
		expect(errors[0]).not.toContain('5511987654321');
	});

	test('tells a model nothing of the other items of a list', async () => {
		shop.fault('loseAnswer');
		const { errors } = await call({}, {}, [{}, {}]);

		expect(errors[1]).toContain(MAYBE);
		expect(errors[1]).not.toMatch(/list|Settings of this node/);
	});

	test('returns the charge of a chat to its Retry with an Order Reference', async () => {
		const { outcome } = await call();
		const { answers } = await call(ORDER, { retryOf: outcome.begun });
		const later = await call(ORDER);

		expect(answers[0]?.[0]).toMatchObject({ hash: shop.hashes[0], already_charged: false });
		expect(later.answers[0]?.[0]?.hash).toBe(shop.hashes[0]);
		expect(shop.charges).toBe(1);
	});

	test('does not tell a model which charge another account has under the same Order Reference', async () => {
		await call(ORDER);
		const { sandbox, credentials } = await openAccount();
		const other = { ...ORDER, customerDocument: '111.444.777-35' };
		const { errors } = await call(other, { credentials });
		await sandbox.close();

		expect(errors).toHaveLength(1);
		expect(errors.join()).not.toContain(shop.hashes[0]);
	});

	describe('in an Agent of n8n, without a workflow and a ledger,', () => {
		const callAgent = async (more: INodeParameters = ORDER) =>
			await call(more, { workflowId: '', executionId: '' });

		test('charges an order again, once, if its transaction expired', async () => {
			await callAgent();
			await shop.latestBecomes('expired');
			const second = await callAgent();
			const third = await callAgent();

			expect([...second.errors, ...third.errors]).toEqual([]);
			expect(third.answers).toMatchObject([[{ hash: shop.hashes[1] }]]);
			expect(shop.charges).toBe(2);
		});

		test('gets the charge of the same call within 15 minutes', async () => {
			const first = await callAgent({});
			const second = await callAgent({});
			await pause(16 * 60_000);
			const later = await callAgent({});

			expect(second.answers[0]?.[0]?.hash).toBe(first.answers[0]?.[0]?.hash);
			expect(later.answers[0]?.[0]).toMatchObject({ hash: shop.hashes[1], already_charged: false });
			expect(shop.charges).toBe(2);
		});

		test('returns an order after more than 15 minutes', async () => {
			const first = await callAgent();
			await pause(16 * 60_000);
			const later = await callAgent();

			expect(later.answers[0]?.[0]?.hash).toBe(first.answers[0]?.[0]?.hash);
			expect(shop.charges).toBe(1);
		});

		test('refuses a charge in doubt; a decision allows one more charge, once', async () => {
			shop.fault('loseAnswer');
			await callAgent({});
			await callAgent({});
			const items = [{ orderOrCustomer: CUSTOMER.customerDocument, hash: '' }];
			const allowed = { options: { chargesInDoubt: { items } } };
			shop.fault('loseAnswer');
			await callAgent(allowed);
			const again = await callAgent(allowed);

			expect(again.errors.join()).toContain(MAYBE);
			expect(shop.charges).toBe(2);
		});
	});

	test.each([{ orderReference: 'order-2' }, { customerPhone: '(21) 98765-4321' }])(
		'in an Agent of n8n, a decided charge that got no answer stays in doubt for %j',
		async (other) => {
			const items = [{ orderOrCustomer: CUSTOMER.customerDocument, hash: '' }];
			const agent = { workflowId: '', executionId: '' };
			shop.fault('loseAnswer');
			await call({}, agent);
			shop.fault('loseAnswer');
			await call({ options: { chargesInDoubt: { items } } }, agent);

			expect((await call(other, agent)).errors.join()).toContain(MAYBE);
			expect(shop.charges).toBe(2);
		},
	);

	test('logs what a person can do about a charge in doubt before the agent asks again', async () => {
		shop.fault('loseRequest');

		expect(logOf(await call())).toContain('Options > Charges in Doubt > Add Decision');
	});

	test('does not name the charge of another customer of the same execution', async () => {
		const customerDocument = '={{ $fromAI("cpf") }}';
		shop.fault('refuse', 1);
		const calls = [{ cpf: '529.982.247-25' }, { cpf: '111.444.777-35' }];
		const { errors } = await call({ customerDocument }, {}, calls);

		expect(errors.join()).not.toContain(shop.hashes[0]);
	});

	describe('that corrects data of its customer', () => {
		const BY_MODEL = {
			orderReference: '={{ $fromAI("order") }}',
			customerEmail: '={{ $fromAI("email", "", "string", "maria@example.com") }}',
			customerDocument: '={{ $fromAI("cpf", "", "string", "529.982.247-25") }}',
		};

		test('is not told to take another reference for a corrected CPF', async () => {
			const { answers, errors } = await call(BY_MODEL, {}, [
				{ order: 'maria', cpf: '111.444.777-35' },
				{ order: 'maria', cpf: '529.982.247-25' },
			]);

			expect(answers).toHaveLength(1);
			expect(errors.join()).toContain(
				'Order Reference "maria" already belongs to a charge with another customer',
			);
			expect(errors.join()).toContain('Do not charge again under another reference');
		});
	});

	test('keeps the charge of one of two calls at once for a Retry elsewhere', async () => {
		// A blank price, so that both calls wait for the catalog before they count their run.
		const more = {
			cart: { items: [{ offerHash: shop.offer, price: '' }] },
			customerEmail: '={{ $fromAI("email") }}',
		};
		const [own, other] = [{ email: 'a@example.com' }, { email: 'b@example.com' }];
		shop.account.fault('charge', { kind: 'delay', ms: 500 });
		shop.fault('refuse', 1);
		const { outcome } = await call(more, { areAtOnce: true }, [own, other]);
		clearProcessState();
		const { answers, errors } = await call(more, { retryOf: retryable(outcome) }, [own, other]);

		expect(errors).toEqual([]);
		expect(answers.flat().map(({ hash }) => hash)).toEqual(expect.arrayContaining(shop.hashes));
		expect(shop.charges).toBe(2);
	});

	test('is not shown a hash of a decision, which may belong to another customer', async () => {
		shop.fault('loseRequest');
		await call();
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const items = [{ orderOrCustomer: CUSTOMER.customerDocument, hash: 'abc123secret' }];
		const other = await call({ options: { chargesInDoubt: { items } } });

		expect(other.errors.join()).toContain('in Options > Charges in Doubt could not be read');
		expect(other.errors.join()).not.toContain('abc123secret');
	});
});
