import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { catalogPages } from '../../../nodes/DigitalSales/api/catalog';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { clearProcessState } from '../../../nodes/DigitalSales/shared/processState';
import { openAccount } from '../../helpers/account';
import { MAYBE, retryable, useShop } from '../../helpers/charging';
import { callTool, type ToolRun } from '../../helpers/tool';

const CODE = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/;

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
	/** A model sees no code, because it would enter the code without looking. */
	const codeLogged = ({ outcome, errors }: ToolRun): RegExpExecArray | [] => {
		expect(errors.join()).not.toMatch(CODE);
		return CODE.exec(outcome.logs.map(({ text }) => text).join()) ?? [];
	};

	test('charges an order with a reference once, even if it is requested again after 15 minutes', async () => {
		const { now } = clock;
		await call(ORDER);
		jest.spyOn(clock, 'now').mockImplementation(() => now() + 16 * 60_000);
		await call(ORDER);

		expect(shop.charges).toBe(1);
	});

	test('charges a repeated call once even if the address for webhooks has changed', async () => {
		const notified = (host: string) =>
			shop.account.credentialsWith({
				notificationField: 'postback_url',
				notificationUrl: `https://${host}.example.com/hook`,
			});
		const more = { webhooksGoTo: 'automatic' };
		const first = await call(more, { credentials: notified('one') });
		const second = await call(more, { credentials: notified('two') });

		expect(shop.account.bodies()).toMatchObject([{ postback_url: 'https://one.example.com/hook' }]);
		expect(second.answers).toMatchObject([[{ hash: first.answers[0]?.[0]?.hash }]]);
	});

	test('charges a repeated call once even if the catalog cannot be read for the repeat', async () => {
		const offerHash = { __rl: true, mode: 'list', value: shop.offer };
		const more = { cart: { items: [{ offerHash }] }, additionalFields: { amount: '7' } };
		await call(more);
		catalogPages.clear();
		shop.account.fault('list', { kind: 'status', status: 500 }, 'always');
		await call(more);

		expect(shop.charges).toBe(1);
	});

	test('charges a call again, once, if its transaction is void', async () => {
		await call();
		await shop.latestBecomes('expired');
		const { outcome } = await call();
		await call();

		expect(shop.charges).toBe(2);
		expect(outcome.logs.map(({ text }) => text).join()).not.toContain('could not be written to');
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

	test('charges two orders of one chat even if all other data is the same', async () => {
		await call({ orderReference: '={{ $fromAI("order") }}' }, {}, [{ order: 'a' }, { order: 'b' }]);

		expect(shop.charges).toBe(2);
	});

	test('does not return a charge of another account', async () => {
		const { sandbox, credentials } = await openAccount();
		await call();
		await call({}, { credentials });
		await sandbox.close();

		expect(sandbox.charges()).toBe(1);
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
		const callAgent = async (more: INodeParameters = ORDER) => await call(more, { workflowId: '' });

		test('charges an order again, once, if its transaction expired', async () => {
			await callAgent();
			await shop.latestBecomes('expired');
			const second = await callAgent();
			const third = await callAgent();

			expect([...second.errors, ...third.errors]).toEqual([]);
			expect(third.answers).toMatchObject([[{ hash: shop.hashes[1] }]]);
			expect(shop.charges).toBe(2);
		});

		test('refuses a charge in doubt; a code allows one more charge, once', async () => {
			shop.fault('loseAnswer');
			await callAgent({});
			const refused = await callAgent({});
			const [repeatCode] = codeLogged(refused);
			const allowed = { options: { repeatCode } };
			shop.fault('loseAnswer');
			await callAgent(allowed);
			const again = await callAgent(allowed);

			expect(again.errors.join()).toContain(MAYBE);
			expect(shop.charges).toBe(2);
		});

		test('reports that the service refused a charge, which can be made again', async () => {
			shop.fault('refuse');
			const refused = await callAgent();
			const second = await callAgent();

			expect(refused.errors.join()).toContain('did not accept the request (422)');
			expect(second.errors).toEqual([]);
			expect(shop.charges).toBe(1);
		});
	});

	test('logs the code of a charge in doubt before the agent asks again', async () => {
		shop.fault('loseRequest');
		const { outcome } = await call();

		expect(outcome.logs.map(({ text }) => text).join()).toMatch(CODE);
	});

	test('does not return an order to another e-mail address and phone', async () => {
		await call({ orderReference: 'order-1' });
		await shop.latestBecomes('paid');
		const { answers, errors } = await call({
			customerEmail: 'pedro@example.com',
			customerPhone: '(21) 98765-4321',
			orderReference: 'order-1',
		});

		expect(JSON.stringify([answers, errors])).not.toContain(shop.hashes[0]);
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

		test.each([
			['e-mail', { email: 'maria@gmal.com' }, { email: 'maria@gmail.com' }],
			['CPF', { cpf: '111.444.777-35' }, { cpf: '529.982.247-25' }],
		])('(%s) is not told to take another reference', async (_what, wrong, right) => {
			const { answers, errors } = await call(BY_MODEL, {}, [
				{ order: 'maria', ...wrong },
				{ order: 'maria', ...right },
			]);

			expect(answers).toHaveLength(1);
			expect(errors.join()).toContain(
				'Order Reference "maria" already has a charge with other data',
			);
			expect(errors.join()).toContain('Do not charge again under another reference');
			expect(errors.join()).not.toContain('another customer');
		});
	});

	test('gets the charge of an equal call even if the service states an earlier e-mail', async () => {
		const first = await call();
		const [stored] = shop.account.sandbox.transactions;
		if (stored) stored.customer.email = 'maria.antiga@example.com';
		const second = await call();

		expect(second.answers[0]?.[0]?.hash).toBe(first.answers[0]?.[0]?.hash);
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

	test('is not shown an entered hash, which may belong to another customer', async () => {
		await call();
		const repeatCode = shop.hashes[0] ?? '';
		clearProcessState();
		shop.account.fault('read', { kind: 'status', status: 500 }, 'always');
		const other = await call({
			customerDocument: '111.444.777-35',
			customerEmail: 'joao@example.com',
			customerPhone: '(21) 98765-4321',
			options: { repeatCode },
		});

		expect(other.errors.join()).toContain('The entered transaction in Options > Charge in Doubt');
		expect(other.errors.join()).not.toContain(repeatCode);
	});
});
