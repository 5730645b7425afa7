import { ACTION_TYPE, NO_OP_TYPE, runWorkflow, START_TYPE, type NodeInput } from '../harness';
import { pixParameters } from '../support/account';
import { useWaitingRoom, waitParameters } from '../support/waiting';

describe('The address of an execution that waits', () => {
	const room = useWaitingRoom();

	const charge = async (...next: NodeInput[]) =>
		await runWorkflow({
			nodes: [
				{ name: 'Start', type: START_TYPE },
				{
					name: 'Charge',
					type: ACTION_TYPE,
					parameters: pixParameters(room.account.sandbox, { notify: 'automatic' }),
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
});
