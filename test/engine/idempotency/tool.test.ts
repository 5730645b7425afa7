import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { openAccount } from '../../helpers/account';
import { MAYBE, useShop } from '../../helpers/charging';
import { callTool, type ToolRun } from '../../helpers/tool';

const CODE = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/;

describe('What the tool of an agent charges once', () => {
	const shop = useShop();
	afterEach(() => jest.restoreAllMocks());

	const call = async (more: INodeParameters = {}, options = {}, calls: IDataObject[] = [{}]) =>
		await callTool(shop.parameters(undefined, more), calls, {
			credentials: shop.account.credentials,
			workflowId: 'chat',
			...options,
		});
	const ORDER = { orderReference: 'order-1' };
	/** A model is shown none: it would enter it without looking. */
	const codeLogged = ({ outcome, errors }: ToolRun): RegExpExecArray | [] => {
		expect(errors.join()).not.toMatch(CODE);
		return CODE.exec(outcome.logs.map(({ text }) => text).join()) ?? [];
	};

	test('an order with a reference, even after 15 minutes', async () => {
		const { now } = clock;
		await call(ORDER);
		jest.spyOn(clock, 'now').mockImplementation(() => now() + 16 * 60_000);
		await call(ORDER);

		expect(shop.charges).toBe(1);
	});

	test('a call that is repeated after the address for webhooks has changed, under every name', async () => {
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

	test('a call whose transaction is void by now is charged again, once', async () => {
		await call();
		await shop.latestBecomes('expired');
		const { outcome } = await call();
		await call();

		expect(shop.charges).toBe(2);
		expect(outcome.logs.map(({ text }) => text).join()).not.toContain('could not be written to');
	});

	test('a call in the same execution does not get a refused charge', async () => {
		shop.fault('void');
		const { answers } = await call(ORDER, {}, [{}, {}]);

		expect(answers.map(([answer]) => answer?.payment_status)).toEqual([
			'refused',
			'waiting_payment',
		]);
		expect(shop.charges).toBe(2);
	});

	test('the Retry of a chat with an Order Reference is given what the chat has charged', async () => {
		const { outcome } = await call();
		const { answers } = await call(ORDER, { retryOf: outcome.begun });
		const later = await call(ORDER);

		expect(answers[0]?.[0]).toMatchObject({ hash: shop.hashes[0], already_charged: true });
		expect(later.answers[0]?.[0]?.hash).toBe(shop.hashes[0]);
		expect(shop.charges).toBe(1);
	});

	test('two orders of one chat are charged, though all else is the same', async () => {
		await call({ orderReference: '={{ $fromAI("order") }}' }, {}, [{ order: 'a' }, { order: 'b' }]);

		expect(shop.charges).toBe(2);
	});

	test('another account does not get it', async () => {
		const { sandbox, credentials } = await openAccount();
		await call();
		await call({}, { credentials });
		await sandbox.close();

		expect(sandbox.charges()).toBe(1);
	});

	describe('without a workflow, as in an Agent of n8n, where there is no ledger:', () => {
		const callAgent = async (more: INodeParameters = ORDER) => await call(more, { workflowId: '' });

		test('an order whose transaction expired is charged again, once', async () => {
			await callAgent();
			await shop.latestBecomes('expired');
			const second = await callAgent();
			const third = await callAgent();

			expect([...second.errors, ...third.errors]).toEqual([]);
			expect(third.answers).toMatchObject([[{ hash: shop.hashes[1] }]]);
			expect(shop.charges).toBe(2);
		});

		test('what is in doubt is refused; a code allows one more charge, once', async () => {
			shop.fault('lose');
			await callAgent({});
			const refused = await callAgent({});
			const [repeatCode] = codeLogged(refused);
			const allowed = { options: { repeatCode } };
			shop.fault('lose');
			await callAgent(allowed);
			const again = await callAgent(allowed);

			expect(again.errors.join()).toContain(MAYBE);
			expect(shop.charges).toBe(2);
		});

		test('what the service refused is told, and can be charged', async () => {
			shop.fault('refuse');
			const refused = await callAgent();
			const second = await callAgent();

			expect(refused.errors.join()).toContain('did not accept the request (422)');
			expect(second.errors).toEqual([]);
			expect(shop.charges).toBe(1);
		});
	});
});
