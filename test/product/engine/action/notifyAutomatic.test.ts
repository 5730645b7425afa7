import type {
	IExecuteFunctions,
	INodeParameters,
	INodeProperties,
	INodeType,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import {
	ACTION_TYPE,
	connect,
	double,
	type NodeInput,
	runWorkflow,
	serveWebhook,
	START_TYPE,
	TRIGGER_TYPE,
	type WorkflowOutcome,
} from '../harness';
import { webServer } from '../harness/webServer';
import { pixParameters, useAccount } from '../support/account';
import { callTool } from '../support/tool';
import { waitParameters } from '../support/waiting';

const ID = '0b9d5c1e-3a52-4f6e-9d3c-9a1f0c6f7e21';
const SALE: NodeInput = { name: 'Sale', type: TRIGGER_TYPE, webhookId: ID };
const OTHER_SALE: NodeInput = { name: 'Other sale', type: TRIGGER_TYPE, webhookId: 'two' };
/** What the harness's server is reached at. */
const TRIGGER = new RegExp(`^http://127\\.0\\.0\\.1:\\d+/webhook/${ID}/digital-sales$`);
const OTHER_TRIGGER = /^http:\/\/127\.0\.0\.1:\d+\/webhook\/two\/digital-sales$/;
const IN_CREDENTIAL = 'https://n8n.example.com/webhook/credential/digital-sales';
const EXECUTION = /^http:\/\/127\.0\.0\.1:\d+\/webhook-waiting\/\d+\/digital-sales\?signature=/;
const NO_WAIT =
	'no Wait for Payment follows in this workflow (one in a sub-workflow does not count)';

describe('Create PIX > Notify: Automatic', () => {
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
	afterEach(() => {
		publish(false);
		clearProcessWide();
		jest.restoreAllMocks();
	});

	const WAIT: NodeInput = { name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() };
	const untouched = (more: INodeParameters = {}): INodeParameters => {
		const { notify: _none, ...parameters } = pixParameters(account.sandbox, more);
		return parameters;
	};
	/** Start, Charge and what follows; returns what the service was told and what the user was told. */
	async function charge({
		next = [],
		wires,
		nodeTypes,
		notificationUrl,
		triggers = [],
		mode = 'webhook',
		parameters = {},
	}: {
		next?: NodeInput[];
		wires?: Parameters<typeof connect>[0];
		nodeTypes?: Record<string, INodeType>;
		notificationUrl?: string;
		triggers?: NodeInput[];
		mode?: WorkflowExecuteMode;
		parameters?: INodeParameters;
	} = {}): Promise<{ run: WorkflowOutcome; url?: string | null; hints: string[] }> {
		const { sandbox } = account;
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Charge', type: ACTION_TYPE, parameters: { ...untouched(), ...parameters } },
				...next,
				...triggers,
			],
			connections: connect(wires ?? { Start: 'Charge', ...(next[0] && { Charge: next[0].name }) }),
			...(nodeTypes && { nodeTypes }),
			mode,
			credentials: account.credentialsWith({ notificationUrl }),
		});
		return {
			run,
			url: sandbox.transactions.at(-1)?.postback_url,
			hints: run.data.Charge?.hints.map(({ message }) => message) ?? [],
		};
	}

	describe('a Wait for Payment that follows comes first', () => {
		const everything = { notificationUrl: IN_CREDENTIAL, triggers: [SALE] };

		test('and the hint says so, and who can reach the address', async () => {
			const { run, url, hints } = await charge({ next: [WAIT], ...everything });

			expect(run.status).toBe('waiting');
			expect(url).toMatch(EXECUTION);
			expect(hints).toEqual([
				expect.stringMatching(
					/^Webhooks go to this execution, because Wait for Payment follows\. No trigger is told of this charge, not even "Sale" of this workflow\. Only this machine or its network can reach 127\.0\.0\.1:\d+, so webhooks arrive only if the service runs there, too\. Wait for Payment works without webhooks\.$/,
				),
			]);
		});

		test('also in a loop that goes from the charge back to the wait before it', async () => {
			const { url, run } = await charge({
				next: [{ name: 'Loop', type: 'test.loop' }, WAIT],
				wires: { Start: 'Loop', Charge: 'Loop', Loop: ['Charge', 'Wait'] },
				nodeTypes: { 'test.loop': branching((nth) => (nth === 0 ? 0 : 1)) },
				...everything,
			});

			expect(run.status).toBe('waiting');
			expect(url).toMatch(EXECUTION);
		});
	});

	test.each<[string, NodeInput[]]>([
		['none is there', []],
		['it is disabled', [{ ...WAIT, disabled: true }]],
		['it does something else', [{ ...WAIT, parameters: waitParameters({ operation: 'get' }) }]],
		[
			'it is a node of another package',
			[{ name: 'Wait', type: 'test.other', parameters: waitParameters() }],
		],
	])('without a Wait for Payment the trigger comes next: %s', async (_why, next) => {
		const operation: INodeProperties = {
			displayName: 'Operation',
			name: 'operation',
			type: 'string',
			default: '',
		};
		const { url, hints } = await charge({
			next,
			nodeTypes: { 'test.other': branching(() => 0, [operation]) },
			notificationUrl: IN_CREDENTIAL,
			triggers: [SALE],
		});

		expect(url).toMatch(TRIGGER);
		expect(hints).toEqual([
			expect.stringMatching(
				/^Webhooks go to "Sale" of this workflow, because no Wait for Payment follows in this workflow \(one in a sub-workflow does not count\)\. Only this machine or its network can reach 127/,
			),
		]);
	});

	test('of two triggers it takes the first and names it', async () => {
		const { url, hints } = await charge({ triggers: [SALE, OTHER_SALE] });

		expect(url).toMatch(TRIGGER);
		expect(hints.join()).toMatch(
			/^Webhooks go to "Sale", one of 2 triggers of this workflow, because/,
		);
	});

	test.each<[string, NodeInput[], string]>([
		[
			'it is disabled',
			[{ ...SALE, disabled: true }],
			'the workflow has no Digital Sales Trigger that is enabled',
		],
		[
			'it is of another account',
			[{ ...SALE, credentials: { digitalSalesApi: { id: 'shop-2', name: 'Shop 2' } } }],
			'"Sale" could not read this transaction: its credential is "Shop 2", and that of this node is "digitalSalesApi of the test"',
		],
		[
			'it was imported by a command, which gives it no URL',
			[{ ...SALE, webhookId: '' }],
			'its Digital Sales Trigger is not published',
		],
	])(
		'without such a trigger the address of the credential comes next: %s',
		async (_, triggers, why) => {
			const { url, hints } = await charge({ notificationUrl: IN_CREDENTIAL, triggers });

			expect(url).toBe(IN_CREDENTIAL);
			expect(hints).toEqual([
				`Webhooks go to the Notification URL of the credential: ${NO_WAIT}, and ${why}.`,
			]);
		},
	);

	test('a trigger of another account, or without a URL, leaves the next one of the workflow', async () => {
		const credentials = { digitalSalesApi: { id: 'shop-2', name: 'Shop 2' } };
		const { url, hints } = await charge({
			triggers: [
				{ ...SALE, name: 'Elsewhere', credentials, webhookId: 'three' },
				{ ...SALE, name: 'Imported', webhookId: '' },
				{ ...SALE, name: 'Off', disabled: true, webhookId: 'four' },
				OTHER_SALE,
			],
		});

		expect(url).toMatch(OTHER_TRIGGER);
		expect(hints.join()).toMatch(
			/^Webhooks go to "Other sale", one of 3 triggers of this workflow/,
		);
	});

	describe('n8n is asked whether the trigger is published', () => {
		beforeEach(() => publish(false));

		const asked = async (mode: WorkflowExecuteMode = 'manual') =>
			await charge({ notificationUrl: IN_CREDENTIAL, triggers: [SALE], mode });

		// n8n publishes a workflow of which a trigger cannot be, so its form or schedule starts without it.
		test.each(['manual', 'trigger'] as const)('in the mode %s: it is not', async (mode) => {
			const { url, hints } = await asked(mode);

			expect(url).toBe(IN_CREDENTIAL);
			expect(hints.join()).toContain('and its Digital Sales Trigger is not published.');
		});

		test.each(['GET, POST, OPTIONS', '*', ''])(
			'a proxy that answers %j in place of n8n says nothing of it: the trigger is notified, and the hint says so',
			async (methods) => {
				webServer.toldByProxy = methods;

				const { url, hints } = await asked();

				webServer.toldByProxy = undefined;
				expect(url).toMatch(TRIGGER);
				expect(hints.join()).toContain(
					'n8n could not check whether it is published; Notification > Get Address says more.',
				);
			},
		);

		test('once it is published, the next charge notifies it', async () => {
			const { elapsed } = clock;
			expect((await asked()).url).toBe(IN_CREDENTIAL);
			const trigger = await serveWebhook({
				credentials: account.credentials,
				settings: { webhookId: ID },
			});

			jest.spyOn(clock, 'elapsed').mockImplementation(() => elapsed() + 5_000);
			expect((await asked()).url).toBe(trigger.url);
			trigger.stopListening();
		});
	});

	test('warns of a test URL there', async () => {
		const { hints } = await charge({ notificationUrl: 'https://n8n.example.com/webhook-test/x' });

		expect(hints.join()).toMatch(
			/of the credential: .* The Notification URL is a test URL, which listens .* For real sales, enter the production URL of the trigger\.$/,
		);
	});

	test('and otherwise nobody: it charges, and says what to do', async () => {
		const { run, url, hints } = await charge();

		expect(run.status).toBe('success');
		expect(url).toBe('');
		expect(hints).toEqual([
			`Nobody is notified: ${NO_WAIT}, and the workflow has no Digital Sales Trigger that is enabled, and the credential has no Notification URL. Add Wait for Payment after this node, publish this workflow with a Digital Sales Trigger, or enter a Notification URL in the credential.`,
		]);
	});

	describe('if the address of the credential cannot be used', () => {
		const notificationUrl = 'n8n.example.com/webhook/x';

		test('nothing is sent, since somebody wants to be notified', async () => {
			const { run } = await charge({ notificationUrl });

			expect(run.data.Charge?.error).toMatchObject({
				message:
					'Notification URL in the credential must be a complete web address that starts with http:// or https://',
				description: 'Correct it there, or change Notify.\nNothing was sent.',
			});
			expect(account.sandbox.requests).toEqual([]);
		});

		test('it does not matter where another address comes first', async () => {
			expect((await charge({ notificationUrl, triggers: [SALE] })).url).toMatch(TRIGGER);
		});
	});

	test('an existing transaction keeps its address, so nothing is said of one', async () => {
		const { credentials } = account;
		const run = async (): Promise<string[]> => {
			const { hints } = await account.run(untouched({ orderReference: 'order-1' }), {
				credentials,
				workflowId: 'notify twice',
			});
			return hints.map(({ message }) => message);
		};
		await run();

		expect(await run()).toEqual([expect.stringContaining('was already charged')]);
	});

	test('as the tool of an agent a wait behind the agent is none', async () => {
		const { answers } = await callTool(untouched(), [{}], {
			credentials: account.credentials,
			next: { type: ACTION_TYPE, parameters: waitParameters() },
			others: [SALE],
			mode: 'webhook',
		});

		expect(answers).toHaveLength(1);
		expect(account.sandbox.transactions[0]?.postback_url).toMatch(TRIGGER);
	});

	const WHY = `${NO_WAIT}, and a Digital Sales Trigger started this execution, so each payment would charge again`;
	const NOBODY = `Nobody is notified: ${WHY}. Add Wait for Payment after this node, or set Notify to Another Address.`;
	/** The same address, as a person may write it or an earlier domain had it. */
	const SPELLINGS = [
		`https://n8n.example.com/webhook/${ID}/digital-sales`,
		`HTTPS://OLD.EXAMPLE.COM:443/webhook/${ID.toUpperCase()}/digital-sales/#top`,
		`https://n8n.example.com/webhook/${ID.slice(0, -1)}%31/digital-sales?x=1`,
		`https://n8n.example.com/webhook/${ID.slice(0, -1)}%31/digital-sales?x=%`,
	];

	describe('started by a sale', () => {
		const startedBySale = async (
			parameters: INodeParameters,
			notificationUrl?: string,
			sale = SALE,
		): Promise<{ told?: string | null; hints: string[] }> => {
			const { sandbox } = account;
			const { data } = await runWorkflow({
				id: 'shop-1',
				nodes: [sale, { name: 'Charge', type: ACTION_TYPE, parameters }, OTHER_SALE],
				connections: connect({ [sale.name]: 'Charge' }),
				mode: 'webhook',
				startItems: [{ hash: 'paid1', payment_status: 'paid' }],
				credentials: account.credentialsWith({ notificationUrl }),
			});
			return {
				told: sandbox.transactions[0]?.postback_url,
				hints: data.Charge?.hints.map(({ message }) => message) ?? [],
			};
		};

		test('no trigger of the workflow is notified', async () => {
			const { told, hints } = await startedBySale(untouched());

			expect(told).toBe('');
			expect(hints).toEqual([
				expect.stringMatching(/^Nobody is notified: .* would charge again, /),
			]);
		});

		test.each([...SPELLINGS, 'https://n8n.example.com/webhook/two/digital-sales'])(
			'nor through the credential: %s',
			async (inCredential) => {
				const { told, hints } = await startedBySale(untouched(), inCredential);

				expect([told, hints]).toEqual(['', [NOBODY]]);
			},
		);

		test.each([
			'https://n8n.example.com/webhook/shop-1/imported%20sale/digital-sales',
			'https://n8n.example.com/webhook/SHOP-1/imported%20sale/digital-sales/',
		])('nor, if a command imported it, at the URL that it has then: %s', async (inCredential) => {
			const imported: NodeInput = { name: 'Imported sale', type: TRIGGER_TYPE, webhookId: '' };

			const { told, hints } = await startedBySale(untouched(), inCredential, imported);

			expect([told, hints]).toEqual(['', [NOBODY]]);
		});

		test('but another address of the credential is', async () => {
			const { told, hints } = await startedBySale(untouched(), IN_CREDENTIAL);

			expect(told).toBe(IN_CREDENTIAL);
			expect(hints).toEqual([`Webhooks go to the Notification URL of the credential: ${WHY}.`]);
		});

		const LOOP =
			'This execution was started by a Digital Sales Trigger, and the webhooks go to a trigger of this workflow, so this charge may start it again and again. Unless Trigger On or the filters exclude this charge, change Notify.';

		test.each<[string, INodeParameters, RegExp, boolean]>([
			[
				'chosen by hand, the trigger is notified, with a warning',
				{ notify: 'trigger' },
				TRIGGER,
				true,
			],
			[
				'also as an address',
				{ notify: 'url', notificationUrl: `https://old.example.com/webhook/${ID}/digital-sales` },
				/old\.example\.com/,
				true,
			],
			[
				'another address is none of it',
				{ notify: 'url', notificationUrl: IN_CREDENTIAL },
				/credential/,
				false,
			],
		])('%s', async (_, parameters, expected, warns) => {
			const { told, hints } = await startedBySale(pixParameters(account.sandbox, parameters));

			expect(told).toMatch(expected);
			expect(hints.some((hint) => hint.startsWith(LOOP))).toBe(warns);
		});

		test('and not if something else starts it', async () => {
			const { url, hints } = await charge({ triggers: [SALE], parameters: { notify: 'trigger' } });

			expect(url).toMatch(TRIGGER);
			expect(hints.join()).not.toContain(LOOP);
		});

		test('as the tool of an agent behind the trigger it notifies nobody, either', async () => {
			const { answers } = await callTool(untouched(), [{}], {
				credentials: account.credentials,
				start: { name: 'Sale', json: { hash: 'paid1', payment_status: 'paid' }, node: SALE },
				mode: 'webhook',
			});

			expect(answers).toHaveLength(1);
			expect(account.sandbox.transactions[0]?.postback_url).toBe('');
		});
	});

	test('Trigger of This Workflow refuses before anything is sent if it is not published', async () => {
		publish(false);
		const { run } = await charge({ triggers: [SALE], parameters: { notify: 'trigger' } });

		expect(run.data.Charge?.error).toMatchObject({
			message:
				'Notify is set to Trigger of This Workflow, but its Digital Sales Trigger is not published',
			description: 'Correct that and publish the workflow, or change Notify.\nNothing was sent.',
		});
		expect(account.sandbox.requests).toEqual([]);
	});
});

/** A node with two outputs that sends its nth input to one of them. */
function branching(
	outputAt: (nth: number) => number,
	properties: INodeProperties[] = [],
): INodeType {
	let nth = 0;
	return double(
		async function (this: IExecuteFunctions) {
			const output = outputAt(nth++);
			return [0, 1].map((index) => (index === output ? this.getInputData() : []));
		},
		2,
		{ properties },
	);
}
