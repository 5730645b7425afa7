import type { IDataObject, INodeParameters, INodeType, WorkflowExecuteMode } from 'n8n-workflow';
import {
	ACTION_TYPE,
	connect,
	NO_OP_TYPE,
	type NodeInput,
	runWorkflow,
	START_TYPE,
	testDouble,
	TRIGGER_TYPE,
} from '../../helpers/engine';
import { type WebResponse, webServer } from '../../helpers/engine/webServer';
import { inOptions } from '../../helpers/inOptions';
import { pixParameters, useAccount } from '../../helpers/account';
import { callTool } from '../../helpers/tool';
import { waitParameters } from '../../helpers/waiting';

const ID = '0b9d5c1e-3a52-4f6e-9d3c-9a1f0c6f7e21';
const SALE: NodeInput = { name: 'Sale', type: TRIGGER_TYPE, webhookId: ID };
/** As the trigger's webhook hands it over. */
const SOLD = { hash: 'paid1', status: 'paid', item: { hash: 'paid1', payment_status: 'paid' } };
const OTHER_SALE: NodeInput = { name: 'Other sale', type: TRIGGER_TYPE, webhookId: 'two' };
/** A trigger as a command imports it. */
const IMPORTED: NodeInput = { name: 'Imported', type: TRIGGER_TYPE, webhookId: '' };
const WAIT: NodeInput = { name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() };
const SHOP_2 = { digitalSalesApi: { id: 'shop-2', name: 'Shop 2' } };
/** The host of the harness's server. */
const TRIGGER = new RegExp(`^http://127\\.0\\.0\\.1:\\d+/webhook/${ID}/digital-sales$`);
const OTHER_TRIGGER = /^http:\/\/127\.0\.0\.1:\d+\/webhook\/two\/digital-sales$/;
const IN_CREDENTIAL = 'https://n8n.example.com/webhook/credential/digital-sales';
const EXECUTION = /^http:\/\/127\.0\.0\.1:\d+\/webhook-waiting\/\d+\/digital-sales\?signature=/;
const NEXT_STEP =
	'To continue when the customer pays, add Wait for Payment after this node, in this workflow, or enter the URL of a published Digital Sales Trigger in the credential.';
const CREDENTIAL_INSTEAD =
	'The Notification URL of the credential gets the webhooks of this charge, not the Digital Sales Trigger of this workflow.';

describe('Create PIX > Webhooks Go To: Automatic', () => {
	const account = useAccount();

	/** Whether SALE and OTHER_SALE are published. */
	const publish = (isPublished: boolean): void => {
		for (const { webhookId } of [SALE, OTHER_SALE]) {
			const path = `/webhook/${webhookId}/digital-sales`;
			if (isPublished) webServer.handle(path, () => Promise.resolve());
			else webServer.forget(path);
		}
	};
	beforeEach(() => publish(true));
	afterEach(() => publish(false));

	const untouched = (): INodeParameters => {
		return { ...pixParameters(account.sandbox), options: { qrCodeImage: false } };
	};
	/** A start node, Charge, the nodes after it, and other triggers. */
	async function charge({
		start = { name: 'Start', type: START_TYPE },
		next = [],
		triggers = [],
		mode = 'webhook',
		parameters,
		notificationUrl,
		nodeTypes,
		startItems = start?.type === TRIGGER_TYPE ? [SOLD] : undefined,
	}: {
		start?: NodeInput;
		next?: NodeInput[];
		triggers?: NodeInput[];
		mode?: WorkflowExecuteMode;
		parameters?: INodeParameters;
		/** In the credential. */
		notificationUrl?: string;
		nodeTypes?: Record<string, INodeType>;
		startItems?: IDataObject[];
	} = {}) {
		const charging = { ...untouched(), ...(parameters && inOptions(parameters)) };
		const path = [start, { name: 'Charge', type: ACTION_TYPE, parameters: charging }, ...next];
		const { status, data } = await runWorkflow({
			id: 'shop-1',
			nodes: [...path, ...triggers],
			connections: connect(
				Object.fromEntries(path.slice(1).map(({ name }, nth) => [String(path[nth]?.name), name])),
			),
			...(nodeTypes && { nodeTypes }),
			...(startItems && { startItems }),
			mode,
			credentials: account.credentialsWith({ notificationUrl }),
		});
		const { hints = [], error } = data.Charge ?? {};
		return {
			status,
			error,
			url: account.sandbox.transactions.at(-1)?.postback_url,
			hint: hints.map(({ message }) => message).join('\n'),
		};
	}

	test('a Wait for Payment that follows comes first', async () => {
		const next = [{ name: 'Between', type: NO_OP_TYPE }, WAIT];
		const { status, url, hint } = await charge({
			next,
			triggers: [SALE],
			notificationUrl: IN_CREDENTIAL,
		});

		expect(status).toBe('waiting');
		expect(url).toMatch(EXECUTION);
		expect(hint).toBe('');
	});

	test.each<[string, NodeInput]>([
		['it is disabled', { ...WAIT, disabled: true }],
		['it does something else', { ...WAIT, parameters: waitParameters({ operation: 'get' }) }],
		['it is a node of another package', { ...WAIT, type: 'test.other' }],
	])('the trigger is notified if no Wait for Payment follows: %s', async (_why, wait) => {
		const other = testDouble(async () => await Promise.resolve([]), 1, {
			properties: [{ displayName: 'Operation', name: 'operation', type: 'string', default: '' }],
		});
		const { url, hint } = await charge({
			next: [wait],
			nodeTypes: { 'test.other': other },
			triggers: [SALE],
			notificationUrl: IN_CREDENTIAL,
		});

		expect(url).toMatch(TRIGGER);
		expect(hint).toMatch(
			/^Only this machine or its network can reach 127\.0\.0\.1:\d+, so webhooks arrive only if the platform runs there, too\. Wait for Payment works without webhooks\.$/,
		);
	});

	test('the first of several triggers that can be notified is notified', async () => {
		const { url } = await charge({
			triggers: [
				{ ...SALE, name: 'Elsewhere', credentials: SHOP_2, webhookId: 'three' },
				IMPORTED,
				{ ...SALE, name: 'Off', disabled: true, webhookId: 'four' },
				OTHER_SALE,
				SALE,
			],
		});

		expect(url).toMatch(OTHER_TRIGGER);
	});

	test.each<[string, NodeInput, string]>([
		['it is disabled', { ...SALE, disabled: true }, ''],
		['it is of another account', { ...SALE, credentials: SHOP_2 }, CREDENTIAL_INSTEAD],
		['it has no URL', IMPORTED, CREDENTIAL_INSTEAD],
	])(
		'the address of the credential is notified if no trigger can be: %s',
		async (_, trigger, expected) => {
			const { url, hint } = await charge({
				triggers: [trigger],
				notificationUrl: IN_CREDENTIAL,
			});

			expect(url).toBe(IN_CREDENTIAL);
			expect(hint).toBe(expected);
		},
	);

	describe('n8n is asked whether the trigger is published', () => {
		beforeEach(() => publish(false));

		const asked = async (mode: WorkflowExecuteMode = 'manual') =>
			await charge({ notificationUrl: IN_CREDENTIAL, triggers: [SALE], mode });

		// n8n publishes a workflow without a trigger that fails, so its form or schedule starts without that trigger.
		test.each(['manual', 'trigger'] as const)(
			'in the mode %s, a trigger that is not published is not notified',
			async (mode) => {
				const { url, hint } = await asked(mode);

				expect(url).toBe(IN_CREDENTIAL);
				expect(hint).toBe(CREDENTIAL_INSTEAD);
			},
		);

		const ofProxy = (methods: string) => (response: WebResponse) =>
			response.writeHead(204, { 'access-control-allow-methods': methods }).end();
		test.each<[string, (response: WebResponse) => void]>([
			['a proxy answers with its own methods', ofProxy('GET, POST, OPTIONS')],
			['a proxy answers with a star', ofProxy('*')],
			['a proxy answers with none', ofProxy('')],
			['it is starting up', (response) => response.end('n8n is starting up. Please wait')],
			['nothing answers', () => {}],
		])(
			'if that fails because %s, the trigger is notified, and the hint says what to do',
			async (_why, reply) => {
				const answer = jest.spyOn(webServer, 'answer');
				answer.mockImplementation(async (_request, response) => reply(response));

				const { url, hint } = await asked();

				answer.mockRestore();
				expect(url).toMatch(TRIGGER);
				expect(hint).toContain(
					'n8n could not check whether "Sale" is published. If no sale arrives, correct the public address of n8n (N8N_WEBHOOK_URL).',
				);
			},
		);

		test('n8n is asked once for all items of a run', async () => {
			publish(true);
			const answer = jest.spyOn(webServer, 'answer');

			await charge({ triggers: [SALE], startItems: [{}, {}, {}] });

			const questions = answer.mock.calls.filter(([{ method }]) => method === 'OPTIONS');
			answer.mockRestore();
			expect(account.sandbox.transactions).toHaveLength(1);
			expect(questions).toHaveLength(1);
		});

		test('the first charge after publishing notifies the trigger', async () => {
			expect((await asked()).url).toBe(IN_CREDENTIAL);
			publish(true);
			expect((await asked()).url).toMatch(TRIGGER);
		});
	});

	test('a test URL in the credential gives a warning', async () => {
		const { hint } = await charge({ notificationUrl: 'https://n8n.example.com/webhook-test/x' });

		expect(hint).toMatch(
			/^The Notification URL is a test URL, which listens .* For real sales, enter the production URL of the trigger\.$/,
		);
	});

	test('without any address the charge is made, and a hint says what to do', async () => {
		const { status, url, hint } = await charge();

		expect([status, url]).toEqual(['success', '']);
		expect(hint).toBe(NEXT_STEP);
	});

	describe('if the address of the credential cannot be used', () => {
		const notificationUrl = 'n8n.example.com/webhook/x';

		test('nothing is sent, because somebody wants to be notified', async () => {
			const { error } = await charge({ notificationUrl });

			expect(error).toMatchObject({
				message:
					'Notification URL in the credential must be a complete web address that starts with http:// or https://',
				description: 'This item was not sent.\nCorrect it, or change Webhooks Go To.',
			});
			expect(account.sandbox.requests).toEqual([]);
		});

		test('the charge is made if a trigger listens, because the trigger comes first', async () => {
			expect((await charge({ notificationUrl, triggers: [SALE] })).url).toMatch(TRIGGER);
		});
	});

	test('an existing charge keeps its address and gets no hint about it', async () => {
		const parameters = { orderReference: 'order-1' };
		await charge({ parameters });

		expect((await charge({ parameters })).hint).toMatch(
			/^Transaction \w+: The customer was already charged\. A new purchase needs its own reference\.$/,
		);
	});

	test('the tool of an agent ignores a Wait for Payment after the agent', async () => {
		const { answers } = await callTool(untouched(), [{}], {
			credentials: account.credentials,
			next: { type: ACTION_TYPE, parameters: waitParameters() },
			others: [SALE],
			mode: 'webhook',
		});

		expect(answers).toHaveLength(1);
		expect(account.sandbox.transactions[0]?.postback_url).toMatch(TRIGGER);
	});

	describe('started by a sale', () => {
		const LOOP =
			'A Digital Sales Trigger started this execution and gets the webhooks of this charge, so each payment may charge again. Unless Trigger On or the filters exclude this charge, change Webhooks Go To.';
		const ofSale = { start: SALE, triggers: [OTHER_SALE] };

		test('no trigger of the workflow is notified', async () => {
			const { url, hint } = await charge(ofSale);

			expect(url).toBe('');
			expect(hint).toBe(NEXT_STEP);
		});

		// The same address in another spelling, or under an earlier domain.
		test.each<[string, NodeInput]>([
			[`HTTPS://OLD.EXAMPLE.COM:443/webhook/${ID.toUpperCase()}/digital-sales/#top`, SALE],
			['https://n8n.example.com/webhook/two/digital-sales', SALE],
			['https://n8n.example.com/webhook/shop-1/imported/digital-sales', IMPORTED],
		])(
			'the credential does not lead back to a trigger of the workflow: %s',
			async (notificationUrl, start) => {
				const { url, hint } = await charge({ ...ofSale, start, notificationUrl });

				expect(url).toBe('');
				expect(hint).toBe(NEXT_STEP);
			},
		);

		test('the address of the credential is notified if it leads elsewhere', async () => {
			const { url, hint } = await charge({ ...ofSale, notificationUrl: IN_CREDENTIAL });

			expect(url).toBe(IN_CREDENTIAL);
			expect(hint).toBe(CREDENTIAL_INSTEAD);
		});

		const OLD_ADDRESS = `https://old.example.com/webhook/${ID}/digital-sales`;

		test.each<[string, NodeInput, INodeParameters, RegExp, boolean]>([
			[
				'that trigger is notified, with a warning',
				SALE,
				{ webhooksGoTo: 'trigger' },
				TRIGGER,
				true,
			],
			[
				'an address of that trigger is notified, with a warning',
				SALE,
				{ webhooksGoTo: 'url', notificationUrl: OLD_ADDRESS },
				/old\.example\.com/,
				true,
			],
			[
				'another address is notified without a warning',
				SALE,
				{ webhooksGoTo: 'url', notificationUrl: IN_CREDENTIAL },
				/credential/,
				false,
			],
			[
				'the trigger is notified without a warning if another node started the execution',
				{ name: 'Start', type: START_TYPE },
				{ webhooksGoTo: 'trigger' },
				TRIGGER,
				false,
			],
		])('chosen by hand, %s', async (...[, start, parameters, expected, warns]) => {
			const triggers = start === SALE ? [] : [SALE];

			const { url, hint } = await charge({ start, triggers, parameters });

			expect(url).toMatch(expected);
			expect(hint.includes(LOOP)).toBe(warns);
		});

		test('the tool of an agent after the trigger notifies nobody', async () => {
			const { answers } = await callTool(untouched(), [{}], {
				credentials: account.credentials,
				start: { name: 'Sale', json: SOLD, node: SALE },
				mode: 'webhook',
			});

			expect(answers).toHaveLength(1);
			expect(account.sandbox.transactions[0]?.postback_url).toBe('');
		});
	});

	test('Trigger of This Workflow is refused before anything is sent if the trigger is not published', async () => {
		publish(false);
		const { error } = await charge({ triggers: [SALE], parameters: { webhooksGoTo: 'trigger' } });

		expect(error).toMatchObject({
			message:
				'Webhooks Go To is set to Trigger of This Workflow, but this workflow has no published Digital Sales Trigger with the credential of this node',
			description:
				'This item was not sent.\nPublish the workflow with such a trigger, or change Webhooks Go To.',
		});
		expect(account.sandbox.requests).toEqual([]);
	});
});
