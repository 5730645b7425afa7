import type { INodeParameters } from 'n8n-workflow';
import {
	ACTION_TYPE,
	postJson,
	runWorkflow,
	serveWebhook,
	START_TYPE,
	type PublishedTrigger,
} from '../harness';
import { openAccount, pixParameters, type Account } from '../support/account';

const LOCKED = { triggerOn: ['any'], options: { urlSecret: true } };

describe('Digital Sales Trigger: a secret in the URL', () => {
	let account: Account;
	let hash: string;
	let trigger: PublishedTrigger;

	beforeAll(async () => {
		account = await openAccount();
	});
	beforeEach(async () => {
		account.reset();
		await account.run(pixParameters(account.sandbox));
		hash = account.sandbox.transactions[0]?.hash ?? '';
	});
	afterEach(() => trigger.stopListening());
	afterAll(async () => await account.sandbox.close());

	const publish = async (
		parameters: INodeParameters = LOCKED,
		staticData = {},
		mode?: 'test',
	): Promise<void> => {
		trigger = await serveWebhook({
			credentials: account.credentials,
			parameters,
			staticData,
			...(mode && { mode }),
		});
	};

	/** Runs the action node of the same workflow. */
	const run = async (parameters: INodeParameters) =>
		await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Action', type: ACTION_TYPE, parameters },
			],
			staticData: trigger.staticData,
			credentials: account.credentials,
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
		expect(String(item?.json.url).startsWith(`${trigger.url}?`)).toBe(true);
	});

	test('is part of the address that Create PIX of the workflow gives to the service', async () => {
		await publish();
		await run(pixParameters(account.sandbox, { notify: 'trigger' }));

		const charge = account.sandbox.transactions.at(-1);
		expect(charge?.postback_url).toBe(await shownAddress());
		expect((await account.sandbox.notify(charge?.hash ?? '')).status).toBe(200);
		expect(trigger.executions).toHaveLength(1);
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
		const before = account.sandbox.requests.length;

		const answer = await postJson(`${trigger.url}${query(key)}`, { hash });

		expect(answer.status).toBe(401);
		expect(answer.text).not.toContain(key);
		expect(trigger.executions).toEqual([]);
		expect(account.sandbox.requests).toHaveLength(before);
	});

	test('stays the same over a restart and over unpublishing', async () => {
		await publish();
		const before = await shownAddress();
		await trigger.restart();
		expect(await shownAddress()).toBe(before);
		await trigger.deactivate();
		expect(JSON.stringify(trigger.staticData)).not.toContain('http');
		await trigger.activate();

		expect(await shownAddress()).toBe(before);
	});

	test('is gone from the address as soon as it is switched off', async () => {
		await publish();
		await trigger.deactivate();
		await publish({ triggerOn: ['any'] }, trigger.staticData);
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.data.Action?.items[0]?.json).toEqual({ url: trigger.url, has_secret: false });
		expect((await trigger.post({ hash })).status).toBe(200);
	});

	test('is another one for another account', async () => {
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key');
		trigger.stopListening();
		const other = { ...account.credentials.digitalSalesApi, apiToken: 'test-another-token-123' };
		trigger = await serveWebhook({
			credentials: { digitalSalesApi: other },
			parameters: LOCKED,
		});

		expect(new URL(await shownAddress()).searchParams.get('key')).not.toBe(key);
	});

	test('is another one for another trigger of the same account', async () => {
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key');
		trigger.stopListening();
		await publish();

		expect(new URL(await shownAddress()).searchParams.get('key')).not.toBe(key);
	});

	test('an address that is no complete one, for want of http:// in WEBHOOK_URL, is shown all the same', async () => {
		const url = 'n8n.example.com/webhook/abc/digital-sales';
		await publish({}, { global: { digitalSalesTriggers: { other: url } } });
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.data.Action?.items[0]?.json).toEqual({ url, has_secret: false });
	});

	test('one that was made otherwise before stays', async () => {
		const kept = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
		await publish();
		const key = new URL(await shownAddress()).searchParams.get('key') ?? '';
		await trigger.deactivate();
		const before = JSON.stringify(trigger.staticData).replaceAll(key, kept);
		await publish(LOCKED, JSON.parse(before));

		expect(new URL(await shownAddress()).searchParams.get('key')).toBe(kept);
		expect((await postJson(`${trigger.url}?key=${kept}`, { hash })).status).toBe(200);
	});

	test('a trigger whose static data was replaced still knows it', async () => {
		await publish();
		const { search } = new URL(await shownAddress());
		trigger.loseStaticData();
		expect(trigger.staticData).toEqual({});

		expect((await postJson(trigger.url, { hash })).status).toBe(401);
		expect((await postJson(`${trigger.url}${search.slice(0, -1)}`, { hash })).status).toBe(401);
		expect((await postJson(trigger.url + search, { hash })).status).toBe(200);
	});

	test('is not asked for at a test URL, which is open for one notice only', async () => {
		await publish(LOCKED, {}, 'test');

		expect((await trigger.post({ hash })).status).toBe(200);
		expect(trigger.executions).toHaveLength(1);
	});

	test('there is no address to show before the workflow is published', async () => {
		await publish();
		await trigger.deactivate();
		const outcome = await run({ resource: 'notification', operation: 'getAddress' });

		expect(outcome.error).toMatchObject({
			message: 'This workflow has no published Digital Sales Trigger',
			description: 'Add a Digital Sales Trigger to this workflow and publish the workflow.',
			context: { itemIndex: 0 },
		});
	});
});
