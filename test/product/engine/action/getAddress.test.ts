import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { type NodeInput, runNode, serveWebhook, TRIGGER_TYPE } from '../harness';
import { webServer } from '../harness/webServer';
import { useAccount } from '../support/account';

const ID = '0b9d5c1e-3a52-4f6e-9d3c-9a1f0c6f7e21';
const SALE: NodeInput = { name: 'Sale', type: TRIGGER_TYPE, webhookId: ID };

describe('Notification > Get Address', () => {
	const account = useAccount();

	const check = async (...triggers: NodeInput[]) => {
		const { json, node } = await runNode(
			{ resource: 'notification', operation: 'getAddress' },
			{ credentials: account.credentials, beside: triggers },
		);
		return { items: json, error: node?.error };
	};
	const urlOf = async (id: string): Promise<string> =>
		`${await webServer.url()}/webhook/${id}/digital-sales`;

	test('tells the URL of a published trigger, and that it listens', async () => {
		const trigger = await serveWebhook({
			credentials: account.credentials,
			settings: { webhookId: ID },
		});

		const { items } = await check(SALE);

		trigger.stopListening();
		expect(items).toEqual([{ trigger: 'Sale', url: trigger.url, listening: 'yes', advice: null }]);
	});

	test('tells of each trigger why it does not listen', async () => {
		const { items } = await check(
			SALE,
			{ ...SALE, name: 'Off', webhookId: 'off', disabled: true },
			{ ...SALE, name: 'Imported', webhookId: '' },
		);

		const advice =
			'Publish the workflow. If it is published already, unpublish it and publish it again.';
		expect(items).toEqual([
			{ trigger: 'Sale', url: await urlOf(ID), listening: 'no', advice },
			{
				trigger: 'Off',
				url: await urlOf('off'),
				listening: 'no',
				advice: 'Enable the trigger and publish the workflow.',
			},
			{ trigger: 'Imported', url: null, listening: 'no', advice },
		]);
	});

	test.each([
		['is starting up', 'n8n is starting up. Please wait'],
		['never answers', undefined],
	])('tells soon that n8n cannot be asked, where it %s', async (_name, text) => {
		const answer = jest.spyOn(webServer, 'answer');
		answer.mockImplementation(async (_request, response) => {
			if (text !== undefined) response.end(text);
		});
		const startedAt = clock.elapsed();

		const { items } = await check(SALE);

		answer.mockRestore();
		expect(items).toMatchObject([
			{ listening: 'unreachable', advice: expect.stringContaining('WEBHOOK_URL') },
		]);
		expect(clock.elapsed() - startedAt).toBeLessThan(3_000);
	});

	test('without a trigger says what to do', async () => {
		expect((await check()).error).toMatchObject({
			message: 'This workflow has no Digital Sales Trigger',
			description: expect.stringContaining('publish the workflow'),
		});
	});
});
