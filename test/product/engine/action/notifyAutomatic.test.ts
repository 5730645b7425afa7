import type {
	IConnections,
	IDataObject,
	INodeParameters,
	INodeProperties,
	INodeType,
} from 'n8n-workflow';
import { clearProcessWide } from '../../../../nodes/DigitalSales/shared/processWide';
import {
	ACTION_TYPE,
	defaultProcess,
	NO_OP_TYPE,
	runWorkflow,
	START_TYPE,
	TRIGGER_TYPE,
	type NodeInput,
	type WorkflowOutcome,
} from '../harness';
import { pixParameters, useAccount } from '../support/account';
import { callTool } from '../support/tool';
import { waitParameters } from '../support/waiting';

const TRIGGER = 'https://n8n.example.com/webhook/one/digital-sales?key=secret-of-one';
const OTHER_TRIGGER = 'https://n8n.example.com/webhook/two/digital-sales';
const IN_CREDENTIAL = 'https://n8n.example.com/webhook/credential/digital-sales';
const EXECUTION = /^http:\/\/127\.0\.0\.1:\d+\/webhook-waiting\/\d+\/digital-sales\?signature=/;
const NO_WAIT =
	'no Wait for Payment follows in this workflow (one in a sub-workflow does not count)';

describe('Create PIX > Notify: Automatic', () => {
	const opened = useAccount();
	afterEach(() => clearProcessWide());

	const WAIT: NodeInput = { name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() };
	const published = (...urls: string[]): IDataObject => ({
		global: { digitalSalesTriggers: Object.fromEntries(urls.map((url, nth) => [`t${nth}`, url])) },
	});
	const untouched = (more: INodeParameters = {}): INodeParameters => {
		const { notify: _none, ...parameters } = pixParameters(opened().sandbox, more);
		return parameters;
	};
	const chain = (...names: string[]): IConnections =>
		Object.fromEntries(
			names
				.slice(1)
				.map((node, nth) => [names[nth], { main: [[{ node, type: 'main' as const, index: 0 }]] }]),
		);

	/** Start, Charge and what follows; returns what the service was told and what the user was told. */
	async function charge({
		next = [],
		connections,
		nodeTypes,
		notificationUrl,
		triggers = [],
	}: {
		next?: NodeInput[];
		connections?: IConnections;
		nodeTypes?: Record<string, INodeType>;
		notificationUrl?: string;
		triggers?: string[];
	} = {}): Promise<{ run: WorkflowOutcome; url?: string | null; hints: string[] }> {
		const { credentials, sandbox } = opened();
		const run = await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{ name: 'Charge', type: ACTION_TYPE, parameters: untouched() },
				...next,
			],
			...(connections && { connections }),
			...(nodeTypes && { nodeTypes }),
			staticData: published(...triggers),
			credentials: {
				digitalSalesApi: {
					...credentials.digitalSalesApi,
					...(notificationUrl !== undefined && { notificationUrl }),
				},
			},
		});
		return {
			run,
			url: sandbox.transactions[0]?.postback_url,
			hints: run.data.Charge?.hints.map(({ message }) => message) ?? [],
		};
	}

	describe('a Wait for Payment that follows comes first', () => {
		const everything = { notificationUrl: IN_CREDENTIAL, triggers: [TRIGGER] };

		test('and the hint says so, and who can reach the address', async () => {
			const { run, url, hints } = await charge({ next: [WAIT], ...everything });

			expect(run.status).toBe('waiting');
			expect(url).toMatch(EXECUTION);
			expect(hints).toEqual([
				expect.stringMatching(
					/^Webhooks go to this execution, because Wait for Payment follows\. Only this machine or its network can reach 127\.0\.0\.1:\d+, so webhooks arrive only if the service runs there, too\. Wait for Payment works without webhooks\.$/,
				),
			]);
		});

		test('also behind a Switch, in the branch that this item does not take', async () => {
			const { url } = await charge({
				next: [
					{ name: 'Switch', type: 'test.switch' },
					{ name: 'Other', type: NO_OP_TYPE },
					{ ...WAIT },
				],
				connections: {
					...chain('Start', 'Charge', 'Switch'),
					Switch: {
						main: [
							[{ node: 'Other', type: 'main', index: 0 }],
							[{ node: 'Wait', type: 'main', index: 0 }],
						],
					},
				},
				nodeTypes: { 'test.switch': branching((nth) => (nth < 0 ? 1 : 0)) },
				...everything,
			});

			expect(url).toMatch(EXECUTION);
		});

		test('also in a loop that goes from the charge back to the wait before it', async () => {
			const { url, run } = await charge({
				next: [{ name: 'Loop', type: 'test.loop' }, WAIT, { name: 'Done', type: NO_OP_TYPE }],
				connections: {
					...chain('Start', 'Loop'),
					...chain('Charge', 'Loop'),
					Loop: {
						main: [
							[{ node: 'Wait', type: 'main', index: 0 }],
							[{ node: 'Charge', type: 'main', index: 0 }],
						],
					},
				},
				nodeTypes: { 'test.loop': branching((nth) => (nth === 0 ? 1 : 0)) },
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
		['it is in a sub-workflow', [{ name: 'Sub-workflow', type: NO_OP_TYPE }]],
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
			triggers: [TRIGGER],
		});

		expect(url).toBe(TRIGGER);
		expect(hints).toEqual([
			`Webhooks go to the published trigger of this workflow, because ${NO_WAIT}.`,
		]);
	});

	test('of two triggers it names the one, without its secret, and how to choose the other', async () => {
		const { url, hints } = await charge({ triggers: [TRIGGER, OTHER_TRIGGER] });

		expect(url).toBe(TRIGGER);
		expect(hints).toEqual([
			`Webhooks go to https://n8n.example.com/webhook/one/digital-sales, the first of the 2 published triggers of this workflow, because ${NO_WAIT}. To notify another trigger, set Notify to Another Address; Notification > Get Address shows its URL.`,
		]);
	});

	test('without a published trigger the address of the credential comes next', async () => {
		const { url, hints } = await charge({ notificationUrl: IN_CREDENTIAL });

		expect(url).toBe(IN_CREDENTIAL);
		expect(hints).toEqual([
			`Webhooks go to the Notification URL of the credential, because ${NO_WAIT}, and no published trigger was found in it.`,
		]);
	});

	test('warns of a test URL there', async () => {
		const { hints } = await charge({ notificationUrl: 'https://n8n.example.com/webhook-test/x' });

		expect(hints.join()).toMatch(
			/of the credential, because .* The Notification URL is a test URL, which listens .* For real sales, enter the URL that Notification > Get Address shows\.$/,
		);
	});

	test('and otherwise nobody: it charges, and says what to do', async () => {
		const { run, url, hints } = await charge();

		expect(run.status).toBe('success');
		expect(url).toBe('');
		expect(hints).toEqual([
			`Nobody is notified, because ${NO_WAIT}, no published trigger was found in it, and the credential has no Notification URL. Add Wait for Payment after this node, publish this workflow with a Digital Sales Trigger, or enter a Notification URL in the credential. If the trigger is already published, n8n runs in queue mode and hides it from its workers: run Notification > Get Address in the editor and paste the URL that it shows into the credential.`,
		]);
	});

	describe('if the address of the credential cannot be used', () => {
		const notificationUrl = 'n8n.example.com/webhook/x';

		test('nothing is sent, since somebody wants to be notified', async () => {
			const { run } = await charge({ notificationUrl });

			expect(run.data.Charge?.error).toMatchObject({
				message:
					'Notification URL in the credential must be a complete web address that starts with http:// or https://',
				description:
					'Enter a Notification URL in the credential, or change Notify.\nNothing was sent.',
			});
			expect(opened().sandbox.requests).toEqual([]);
		});

		test('it does not matter where another address comes first', async () => {
			expect((await charge({ notificationUrl, triggers: [TRIGGER] })).url).toBe(TRIGGER);
		});
	});

	test('an existing transaction keeps its address, so nothing is said of one', async () => {
		const { credentials } = opened();
		const run = async (): Promise<string[]> => {
			const { hints } = await opened().run(untouched({ orderReference: 'order-1' }), {
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
			credentials: opened().credentials,
			staticData: published(TRIGGER),
			next: { type: ACTION_TYPE, parameters: waitParameters() },
		});

		expect(answers).toHaveLength(1);
		expect(opened().sandbox.transactions[0]?.postback_url).toBe(TRIGGER);
	});

	const WHY = `because ${NO_WAIT}, and a Digital Sales Trigger comes before this node, so each payment would charge again.`;

	test.each([
		[
			'nobody else',
			undefined,
			'',
			`Nobody is notified, ${WHY} Add Wait for Payment after this node, or set Notify to Another Address.`,
		],
		[
			'the credential, which names the same trigger',
			TRIGGER.split('?')[0],
			'',
			`Nobody is notified, ${WHY} Add Wait for Payment after this node, or set Notify to Another Address.`,
		],
		[
			'the credential, which names another trigger of the workflow',
			OTHER_TRIGGER,
			'',
			`Nobody is notified, ${WHY} Add Wait for Payment after this node, or set Notify to Another Address.`,
		],
		[
			'the credential',
			IN_CREDENTIAL,
			IN_CREDENTIAL,
			`Webhooks go to the Notification URL of the credential, ${WHY}`,
		],
	])(
		'never notifies the trigger that starts it; there is %s',
		async (_, inCredential, told, hint) => {
			const { credentials, sandbox } = opened();
			const { data } = await runWorkflow({
				nodes: [
					{ name: 'Sale', type: TRIGGER_TYPE },
					{ name: 'Charge', type: ACTION_TYPE, parameters: untouched() },
				],
				staticData: published(TRIGGER, OTHER_TRIGGER),
				credentials: {
					digitalSalesApi: {
						...credentials.digitalSalesApi,
						...(inCredential !== undefined && { notificationUrl: inCredential }),
					},
				},
			});

			expect(sandbox.transactions[0]?.postback_url).toBe(told);
			expect(data.Charge?.hints.map(({ message }) => message)).toEqual([hint]);
		},
	);

	test.each([
		[
			'trigger',
			'',
			`Nobody is notified, ${WHY} The published trigger was not found (in queue mode n8n hides it from its workers), so the Notification URL of the credential may lead to it. Add Wait for Payment after this node, or set Notify to Another Address.`,
		],
		['manual', IN_CREDENTIAL, `Webhooks go to the Notification URL of the credential, ${WHY}`],
	] as const)(
		'where n8n hides the trigger that starts it, the credential may name it; mode: %s',
		async (mode, told, hint) => {
			const { credentials, sandbox } = opened();
			const { data } = await runWorkflow({
				nodes: [
					{ name: 'Sale', type: TRIGGER_TYPE },
					{ name: 'Charge', type: ACTION_TYPE, parameters: untouched() },
				],
				credentials: {
					digitalSalesApi: { ...credentials.digitalSalesApi, notificationUrl: IN_CREDENTIAL },
				},
				mode,
			});

			expect(sandbox.transactions[0]?.postback_url).toBe(told);
			expect(data.Charge?.hints.map(({ message }) => message)).toEqual([hint]);
		},
	);

	describe('chosen by hand, the trigger of a charge that a sale starts', () => {
		const LOOP =
			'A Digital Sales Trigger comes before this node, and the webhooks go to a trigger of this workflow, so this charge may start it again and again. Unless Trigger On or the filters exclude this charge, change Notify.';
		const [unsigned = ''] = TRIGGER.split('?');

		test.each<[string, INodeParameters, string, string, string[]]>([
			['is notified, with a warning', { notify: 'trigger' }, TRIGGER_TYPE, TRIGGER, [LOOP]],
			['also through the credential', { notify: 'credential' }, TRIGGER_TYPE, unsigned, [LOOP]],
			[
				'also as an address',
				{ notify: 'url', notificationUrl: unsigned },
				TRIGGER_TYPE,
				unsigned,
				[LOOP],
			],
			['but not if something else starts it', { notify: 'trigger' }, START_TYPE, TRIGGER, []],
			[
				'and another address is none of it',
				{ notify: 'url', notificationUrl: OTHER_TRIGGER },
				TRIGGER_TYPE,
				OTHER_TRIGGER,
				[],
			],
		])('%s', async (_, parameters, first, told, hints) => {
			const { credentials, sandbox } = opened();
			const { data } = await runWorkflow({
				nodes: [
					{ name: 'First', type: first },
					{ name: 'Charge', type: ACTION_TYPE, parameters: pixParameters(sandbox, parameters) },
				],
				staticData: published(TRIGGER),
				credentials: {
					digitalSalesApi: { ...credentials.digitalSalesApi, notificationUrl: unsigned },
				},
			});

			expect(sandbox.transactions[0]?.postback_url).toBe(told);
			expect(data.Charge?.hints.map(({ message }) => message) ?? []).toEqual(hints);
		});
	});
});

/** A node with two outputs that sends its nth input to one of them. */
function branching(
	outputAt: (nth: number) => number,
	properties: INodeProperties[] = [],
): INodeType {
	const base = defaultProcess.nodeType(ACTION_TYPE)?.description;
	if (!base) throw new Error('There is no action node');
	let nth = 0;
	return {
		description: {
			...base,
			name: 'branching',
			properties,
			credentials: [],
			webhooks: [],
			outputs: ['main', 'main'],
		},
		async execute() {
			const output = outputAt(nth++);
			return [0, 1].map((index) => (index === output ? this.getInputData() : []));
		},
	};
}
