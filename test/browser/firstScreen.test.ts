import type { Page } from 'playwright-core';
import { chargeAt } from '../helpers/charge';
import {
	countClicks,
	INSTALL_AND_START_MS,
	type Newcomer,
	SandboxPage,
	startNewcomer,
	told,
} from '../helpers/browser/newcomer';
import type { Editor } from '../helpers/browser/editor';
import { picture } from '../helpers/browser/pictures';

const TOKEN = 'test-api-token-first-screen';
const CREATE_PIX = 'Create a PIX transaction';
const WAIT = 'Wait for the payment of a transaction';

let newcomer: Newcomer;
let page: Page;
let editor: Editor;
let service: SandboxPage;

beforeAll(async () => {
	// One token for everything, as most accounts have it.
	newcomer = await startNewcomer({ apiToken: TOKEN, bodyApiToken: TOKEN });
	({ editor } = newcomer);
	({ page } = editor);
	service = new SandboxPage(await newcomer.openPage(), newcomer.n8n.sandbox.pageUrl);
	await page.bringToFront();
}, INSTALL_AND_START_MS);

afterAll(async () => await newcomer?.stop());

test('the first screen of the README leads to a paid charge', async () => {
	const { baseUrl, apiToken } = newcomer.n8n.sandbox;
	const clicks = await countClicks(page);

	await editor.searchFirstStep(told('Add first step'), 'pix');
	await editor.openActions(told('Digital Sales'), told('Actions'));
	let node = await editor.addAction(told(CREATE_PIX));

	told('Connect to Digital Sales');
	const dialog = await node.newCredential();
	told('Base URL');
	await dialog.fill('baseUrl', baseUrl);
	told('API Token');
	await dialog.fill('apiToken', apiToken);
	await dialog.saveAndSucceed();

	told('Cart');
	await node.openList('offerHash');
	await node.pick();
	await node.type('customerName', 'Maria da Silva');
	await node.type('customerEmail', 'maria@example.com');
	await node.type('customerDocument', '529.982.247-25');
	await node.close();

	node = await editor.addAction(told(WAIT), CREATE_PIX);
	expect(await node.valueOf('transactionHash')).toBe('{{ $json.hash }}');
	await node.closeByKey();
	await editor.executeAll(told('Execute workflow'));
	await editor.succeeded(CREATE_PIX);
	expect(newcomer.n8n.sandbox.charges()).toBe(1);

	const charge = newcomer.n8n.sandbox.transactions.at(-1);
	node = await editor.openNode(CREATE_PIX);
	told('Binary');
	told('View');
	await node.enlargePicture();
	// The dialog's two fields are filled without clicks.
	expect((await clicks()) + 2).toBeLessThanOrEqual(20);
	await node.close();
	await service.open();
	await service.pay(charge?.hash ?? '');
	await page.bringToFront();
	await editor.succeeded(WAIT, 120_000);
	node = await editor.openNode(WAIT);
	expect(await node.output('paid', 'true', charge?.hash ?? '')).toContain('paid');
	await node.close();
});

test('a sale of the checkout starts the workflow of a trigger', async () => {
	const { sandbox } = newcomer.n8n;
	await editor.openNew();
	await editor.searchFirstStep(told('Add first step'), 'pix');
	const node = await editor.addTriggerOf(told('Digital Sales'), told('On transaction paid'));
	told('Test With Transaction');
	await node.type('testTransaction', sandbox.transactions.at(-1)?.hash ?? '');
	const execute = page.getByTestId('node-execute-button');
	expect(await execute.innerText()).toContain(told('Execute step'));
	expect(await node.execute('paid')).toContain('Maria da Silva');
	told('Webhook URLs');
	told('production URL');
	const url = await node.url('production');
	await node.close();
	await editor.publish(told('Publish'));
	await editor.gotIt();

	const hash = await chargeAt(sandbox, url);
	await service.open();
	await service.pay(hash);
	await page.bringToFront();
	const execution = await editor.openNewestExecution('Digital Sales Trigger');
	expect(await execution.output(hash, 'paid')).toContain('Maria da Silva');
	await execution.view('schema');
	await picture(page, 'execution');
});
