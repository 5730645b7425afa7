import { BY_HAND, cartOf, chainOf, createPix, waitForPayment } from '../helpers/e2e/workflows';
import { until } from '../helpers/until';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';

const BY_TIMER_MS = 120_000;

let newcomer: Newcomer;

beforeAll(async () => {
	newcomer = await startNewcomer();
	await newcomer.n8n.createCredential();
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
});

test('a wait that is run from the editor turns green once the customer has paid, and an If reads its `paid`', async () => {
	const { editor, n8n } = newcomer;
	const charge = createPix({ webhooksGoTo: 'none', cart: cartOf(n8n.sandbox) });
	const chain = [BY_HAND, charge, waitForPayment()];
	const { id } = await n8n.rest.createWorkflow(chainOf('Wait', n8n.credential, chain));
	await editor.openWorkflow(id);

	await editor.executeAll('Execute workflow');
	await until('it waits', async () => {
		const [execution] = await n8n.rest.executions(id);
		return execution?.status === 'waiting';
	});
	await editor.succeeded('Charge');
	await picture(editor.page, 'waits');
	const [transaction] = n8n.sandbox.transactions;
	await n8n.sandbox.setStatus(transaction?.hash ?? '', 'paid');

	await editor.succeeded('Wait', BY_TIMER_MS);
	await picture(editor.page, 'waited');
	const wait = await editor.openNode('Wait');
	expect(await wait.output('1 item', 'paid')).toContain(transaction?.hash);

	await wait.close();
	const branch = await editor.addNode('If', 'Wait');
	// The guide says so, and how to change it.
	expect(await branch.dragIntoCondition('paid')).toBe('is equal to false');
	await branch.compare('Boolean', 'is true');
	await branch.execute('True Branch (1 item)', transaction?.hash ?? '');
	await picture(editor.page, 'branch');
}, 300_000);
