import { PublishedTrigger } from '../../helpers/engine/trigger';
import { sampleOf } from '../../helpers/samples';
import { errorIn, useAccount } from '../../helpers/account';

/** Engine 2.0 makes such ids, and gives a step no name of its workflow. */
const executionId = '01a20ff0-ed74-75ef-953f-0e358c611dcf';
const ENGINE_2 = { executionId, workflowName: '' };
const REFUSED = "does not work in n8n's experimental Engine 2.0";

describe("In n8n's experimental Engine 2.0", () => {
	const account = useAccount();
	const parametersOf = (name: string) => sampleOf(name, account.sandbox, { transactionHash: 'h' });

	test.each(['transaction/create', 'offer/create', 'transaction/waitForPayment'])(
		'%s sends nothing, and each item fails by itself',
		async (name) => {
			const items = [{ nth: 1 }, { nth: 2 }];
			const options = { ...ENGINE_2, items, continueOnFail: true };
			const { outputs } = await account.run(parametersOf(name), options);

			expect(outputs.flat()).toHaveLength(2);
			for (const item of outputs.flat()) {
				expect(errorIn(item.json)).toMatchObject({
					message: expect.stringContaining(REFUSED),
					outcome: 'notSent',
				});
			}
			expect(account.sandbox.requests).toEqual([]);
		},
	);

	test('a refusal ends the execution, and blames no item', async () => {
		const { message, itemIndex } = await account.fail(parametersOf('transaction/create'), ENGINE_2);

		expect([message, itemIndex]).toEqual([`Create PIX ${REFUSED}`, undefined]);
	});

	test('a trigger cannot be published, and accepts no webhook', async () => {
		const trigger = await PublishedTrigger.prepare({
			credentials: account.credentials,
			workflowSettings: { engineType: 'v2' },
		});

		await expect(trigger.activate()).rejects.toThrow(`Digital Sales Trigger ${REFUSED}`);
		trigger.listen();
		const { status } = await trigger.post({ hash: 'h', payment_status: 'paid' });
		trigger.stopListening();
		expect(status).toBe(503);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('an execution of the usual engine may have such an id', async () => {
		await account.run(parametersOf('transaction/create'), { executionId });

		expect(account.sandbox.charges()).toBe(1);
	});

	test('Product > Get Many lists products', async () => {
		const { json } = await account.run(parametersOf('product/getAll'), ENGINE_2);

		expect(json).not.toEqual([]);
	});
});
