import type { INodeParameters } from 'n8n-workflow';
import { ACTION_TYPE, postJson, runWorkflow, START_TYPE, type PublishedTrigger } from '../harness';
import { pixParameters } from '../support/account';
import { useInbox } from '../support/inbox';

const LOCKED = { triggerOn: ['any'], options: { urlSecret: true } };

describe('Digital Sales Trigger: a secret in the URL', () => {
	const inbox = useInbox();
	let hash: string;

	beforeEach(async () => {
		hash = await inbox.chargeHere();
	});

	const publish = async (
		parameters: INodeParameters = LOCKED,
		staticData = {},
		mode?: 'test',
	): Promise<PublishedTrigger> =>
		await inbox.publish(parameters, { staticData, ...(mode && { mode }) });

	/** Runs the action node of the same workflow. */
	const run = async (parameters: INodeParameters) =>
		await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Action', type: ACTION_TYPE, parameters },
			],
			staticData: inbox.trigger.staticData,
			credentials: inbox.account.credentials,
		});

	const shownAddress = async (): Promise<string> => {
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });
		return String(outcome.data.Action?.items[0]?.json.url);
	};

	test('is made at publication, and shown with the whole address', async () => {
		await publish();
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		const [item] = outcome.data.Action?.items ?? [];
		expect(item?.json).toEqual({
			url: expect.stringMatching(/\?key=[\w-]{32}$/),
			has_secret: true,
		});
		expect(String(item?.json.url).startsWith(`${inbox.trigger.url}?`)).toBe(true);
	});

	test('is part of the address that Create PIX of the workflow sends to the service', async () => {
		await publish();
		await run(pixParameters(inbox.account.sandbox, { notify: 'trigger' }));

		const charge = inbox.account.sandbox.transactions.at(-1);
		expect(charge?.postback_url).toBe(await shownAddress());
		expect((await inbox.account.sandbox.notify(charge?.hash ?? '')).status).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test.each([
		['none', () => ''],
		['an empty one', () => '?key='],
		['another one', () => '?key=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
		['a part of it', (key: string) => `?key=${key.slice(0, -1)}`],
		['more than it', (key: string) => `?key=${key}A`],
		['it twice', (key: string) => `?key=${key}&key=${key}`],
		['it under another name', (key: string) => `?token=${key}`],
	])('a notice with %s is turned away and costs nothing', async (_name, query) => {
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key') ?? '';
		const before = inbox.account.sandbox.requests.length;

		const answer = await postJson(`${inbox.trigger.url}${query(key)}`, { hash });

		expect(answer.status).toBe(401);
		expect(answer.text).not.toContain(key);
		expect(inbox.trigger.executions).toEqual([]);
		expect(inbox.account.sandbox.requests).toHaveLength(before);
	});

	test('stays the same over a restart and over unpublishing', async () => {
		await publish();
		const before = await shownAddress();
		await inbox.trigger.restart();
		expect(await shownAddress()).toBe(before);
		await inbox.trigger.deactivate();
		expect(JSON.stringify(inbox.trigger.staticData)).not.toContain('http');
		await inbox.trigger.activate();

		expect(await shownAddress()).toBe(before);
	});

	test('is gone from the address as soon as it is switched off', async () => {
		await publish();
		await inbox.trigger.deactivate();
		await publish({ triggerOn: ['any'] }, inbox.trigger.staticData);
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.data.Action?.items[0]?.json).toEqual({
			url: inbox.trigger.url,
			has_secret: false,
		});
		expect((await inbox.trigger.post({ hash })).status).toBe(200);
	});

	test('differs for another account', async () => {
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key');
		inbox.trigger.stopListening();
		const other = {
			...inbox.account.credentials.digitalSalesApi,
			apiToken: 'test-another-token-123',
		};
		await inbox.publish(LOCKED, { credentials: { digitalSalesApi: other } });

		expect(new URL(await shownAddress()).searchParams.get('key')).not.toBe(key);
	});

	test('is another one for another trigger of the same account', async () => {
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key');
		inbox.trigger.stopListening();
		await publish();

		expect(new URL(await shownAddress()).searchParams.get('key')).not.toBe(key);
	});

	test('an incomplete address, because WEBHOOK_URL lacks http://, is still shown', async () => {
		const url = 'n8n.example.com/webhook/abc/digital-sales';
		await publish({}, { global: { digitalSalesTriggers: { other: url } } });
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.data.Action?.items[0]?.json).toEqual({ url, has_secret: false });
	});

	test('one that was made otherwise before stays', async () => {
		const kept = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key') ?? '';
		await inbox.trigger.deactivate();
		const before = JSON.stringify(inbox.trigger.staticData).replaceAll(key, kept);
		await publish(LOCKED, JSON.parse(before));

		expect(new URL(await shownAddress()).searchParams.get('key')).toBe(kept);
		expect((await postJson(`${inbox.trigger.url}?key=${kept}`, { hash })).status).toBe(200);
	});

	test('a trigger whose static data was replaced still knows it', async () => {
		await publish();
		const { search } = new URL(await shownAddress());
		inbox.trigger.loseStaticData();
		expect(inbox.trigger.staticData).toEqual({});

		expect((await postJson(inbox.trigger.url, { hash })).status).toBe(401);
		expect((await postJson(`${inbox.trigger.url}${search.slice(0, -1)}`, { hash })).status).toBe(
			401,
		);
		expect((await postJson(inbox.trigger.url + search, { hash })).status).toBe(200);
	});

	test('is not asked for at a test URL, which is open for one notice only', async () => {
		await publish(LOCKED, {}, 'test');

		expect((await inbox.trigger.post({ hash })).status).toBe(200);
		expect(inbox.trigger.executions).toHaveLength(1);
	});

	test('there is no address to show before the workflow is published', async () => {
		await publish();
		await inbox.trigger.deactivate();
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.error).toMatchObject({
			message: 'This workflow has no published Digital Sales Trigger',
			description: 'Add a Digital Sales Trigger to this workflow and publish the workflow.',
			context: { itemIndex: 0 },
		});
	});
});
