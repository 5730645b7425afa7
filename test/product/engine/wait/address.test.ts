import { ACTION_TYPE, NO_OP_TYPE, runWorkflow, START_TYPE, type NodeInput } from '../harness';
import { pixParameters } from '../support/account';
import { useWaitingRoom, waitParameters } from '../support/waiting';

describe('Create PIX > Notify: This Execution', () => {
	const room = useWaitingRoom();

	const charge = async (...next: NodeInput[]) =>
		await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(room.account.sandbox, { notify: 'thisExecution' }),
				},
				...next,
			],
			credentials: room.account.credentials,
		});
	const WAIT = { name: 'Wait', type: ACTION_TYPE, parameters: waitParameters() };

	test('sends the address of the execution, at a path that resumes no other node', async () => {
		await charge({ name: 'Between', type: NO_OP_TYPE }, WAIT);

		const url = new URL(room.account.sandbox.transactions[0]?.postback_url ?? '');
		expect(url.pathname).toMatch(/^\/webhook-waiting\/\d+\/digital-sales$/);
		expect(url.searchParams.get('signature')).toMatch(/^\w{32,}$/);
	});

	test('warns if nothing waits for the notification', async () => {
		const { hints } = await charge();

		expect(hints.map(({ message }) => message)).toEqual([
			expect.stringContaining('nothing in it waits for them. Add Transaction > Wait for Payment'),
		]);
	});

	test('a following node that does something else is not a wait', async () => {
		const { hints } = await charge({
			name: 'Look',
			type: ACTION_TYPE,
			parameters: waitParameters({ operation: 'get' }),
		});

		expect(hints[0]?.message).toContain('nothing in it waits for them');
	});

	test('a disabled wait does not count', async () => {
		const { hints } = await charge({ ...WAIT, disabled: true });

		expect(hints[0]?.message).toContain('nothing in it waits for them');
	});

	test('warns if the service cannot reach the address', async () => {
		const { hints } = await charge(WAIT);

		expect(hints.map(({ message }) => message)).toEqual([
			expect.stringMatching(/^Only this machine or its network can reach/),
		]);
	});
});
