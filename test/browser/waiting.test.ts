import { BY_HAND, cartOf, chainOf, createPix, END, waitForPayment } from '../helpers/e2e/workflows';
import { until } from '../helpers/until';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';

/** n8n's timer needs up to two minutes. */
const BY_TIMER_MS = 200_000;

let newcomer: Newcomer;

beforeAll(async () => {
	newcomer = await startNewcomer();
	await newcomer.n8n.createCredential();
}, INSTALL_AND_START_MS);

afterAll(async () => await newcomer?.stop());

test('a seller drags from Paid, and what follows runs once the customer has paid', async () => {
	const { editor, n8n } = newcomer;
	const charge = createPix({ webhooksGoTo: 'none', cart: cartOf(n8n.sandbox) });
	const chain = [BY_HAND, charge, waitForPayment()];
	const branches = ['Deliver', 'Remind'].map((name) => [{ ...END, name }]);
	const workflow = chainOf('Wait', n8n.credential, chain, ...branches);
	const { id } = await n8n.rest.createWorkflow(workflow);
	await editor.openWorkflow(id);
	await editor.connect('Wait', 'Paid', 'Deliver');
	await editor.connect('Wait', 'Not Paid', 'Remind');
	await picture(editor.page, 'outputs');

	await editor.executeAll('Execute workflow');
	await until('it waits', async () => {
		const [execution] = await n8n.rest.executions(id);
		return execution?.status === 'waiting';
	});
	await editor.succeeded('Charge');
	await picture(editor.page, 'waits');
	const [transaction] = n8n.sandbox.transactions;
	await n8n.sandbox.setStatus(transaction?.hash ?? '', 'paid');

	await editor.succeeded('Deliver', BY_TIMER_MS);
	await picture(editor.page, 'waited');
	const delivery = await editor.openNode('Deliver');
	expect(await delivery.output('1 item', 'paid')).toContain(transaction?.hash);
	const [latest] = await n8n.rest.executions(id);
	const ended = await n8n.rest.ended(latest?.id ?? '');
	expect(['Deliver', 'Remind'].map((name) => ended.runs(name))).toEqual([1, 0]);
}, 420_000);
