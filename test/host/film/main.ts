import path from 'node:path';
import { selectors, type Page } from 'playwright-core';
import { openBrowser } from '../../support/chromium';
import { chargeAt } from '../../support/charge';
import { Editor } from '../browser/editor';
import { pageOf } from '../browser/newcomer';
import { SandboxPage } from '../browser/sandboxPage';
import { serveModel } from '../e2e/stage/modelServer';
import { CommunityNodesPage } from '../install/stage/communityNodesPage';
import { EmptyN8n } from '../install/stage/emptyN8n';
import { ROOT } from '../n8n/paths';
import { capture } from '../n8n/processes';
import { DEMO_LOGIN } from '../n8n/setUp';
import { messageOf, say as tell, step } from '../n8n/terminal';
import { agentWorkflow, TOOL } from './agentWorkflow';
import { Captions } from './captions';
import { Recorder } from './recorder';

const FILM = path.join(ROOT, 'reports', 'film', 'digital-sales.mp4');
/** What n8n takes of an author. */
const LONGEST_SECONDS = 300;
/** Between two steps of the pointer, so that one can follow it. */
const PACE_MS = 120;

const LIST = 'Get many products';
const OFFER = 'Create an offer';
const CHARGE = 'Create a PIX transaction';
const WAIT = 'Wait for the payment of a transaction';
const TRIGGER = 'Digital Sales Trigger';
const ANSWER = 'Yes, the payment has arrived.';
const CUSTOMER = {
	customerName: 'Maria da Silva',
	customerEmail: 'maria@example.com',
	customerPhone: '(11) 91234-5678',
	customerDocument: '529.982.247-25',
};

/** What the scenes play in. */
class Shooting {
	readonly captions = new Captions();
	readonly editor: Editor;
	readonly service: SandboxPage;

	constructor(
		readonly n8n: EmptyN8n,
		readonly page: Page,
		servicePage: Page,
		readonly recorder: Recorder,
	) {
		this.editor = new Editor(page, n8n.url);
		this.service = new SandboxPage(servicePage, n8n.sandbox.pageUrl);
	}

	async say(text: string): Promise<void> {
		await this.captions.say(this.page, text);
	}

	/** The customer pays, in the tab of the service. */
	async pay(hash: string, text: string): Promise<void> {
		const { service, recorder, captions, page } = this;
		await service.open();
		await recorder.show(service.page);
		await captions.say(service.page, text);
		await service.pay(hash);
		await service.page.waitForTimeout(1_200);
		await recorder.show(page);
	}

	get newestHash(): string {
		return this.n8n.sandbox.transactions.at(-1)?.hash ?? '';
	}
}

async function installation(shooting: Shooting): Promise<void> {
	const settings = new CommunityNodesPage(shooting.page, shooting.n8n.url);
	await shooting.say('Installation: Settings > Community nodes');
	await settings.open();
	await settings.install();
	await shooting.say('Installed: an action node and a trigger');
}

async function credential(shooting: Shooting): Promise<void> {
	const { editor, n8n } = shooting;
	const { baseUrl, apiToken, bodyApiToken } = n8n.sandbox;
	await editor.openNew();
	await shooting.say('A new workflow: "pix" finds the nodes');
	await editor.search('pix');
	await editor.openEntry();
	const node = await editor.addAction(LIST);
	await shooting.say('The credential: Base URL and API Token. Saving tests it');
	const dialog = await node.newCredential();
	await dialog.fill('baseUrl', baseUrl);
	await dialog.fill('apiToken', 'wrong-token-1');
	await dialog.saveAndFail('The service does not accept the API token (401)');
	await shooting.say('A wrong token is told');
	await dialog.fill('apiToken', apiToken);
	await dialog.fill('bodyApiToken', bodyApiToken);
	await dialog.saveAndSucceed();
	await shooting.say('Product > Get Many lists what is for sale, page by page');
	await node.fill('limit', '1');
	await node.execute('1 item');
	await shooting.page.waitForTimeout(1_500);
	await node.close();
}

async function actions(shooting: Shooting): Promise<void> {
	const { editor, page } = shooting;
	let node = await editor.addAction(OFFER, LIST);
	await shooting.say('Offer > Create: the product from a list, the price in reais');
	await node.search('productHash', 'confeitaria');
	await node.pickFirst();
	await node.fill('title', 'Semana do Cliente');
	await node.fill('price', '49,90');
	await node.execute('Semana do Cliente');
	await page.waitForTimeout(1_500);
	await node.close();

	await editor.tidyUp();
	node = await editor.addAction(CHARGE, OFFER);
	await shooting.say(
		'Transaction > Create PIX: the cart and the customer. What is empty comes from the catalog',
	);
	await node.addEntry('Add Item');
	await node.search('offerHash', 'confeitaria');
	await node.pick('Semana do Cliente');
	for (const [field, text] of Object.entries(CUSTOMER)) await node.fill(field, text);
	await node.execute('waiting_payment', 'pix_qr_code');
	await node.viewPicture();
	await shooting.say('The PIX code, as text and as a picture');
	await node.close();

	await editor.tidyUp();
	node = await editor.addAction(WAIT, CHARGE);
	await shooting.say(
		'Transaction > Wait for Payment: the workflow goes on once the money has arrived',
	);
	await node.close();
	await editor.tidyUp();
	const before = shooting.newestHash;
	await editor.execute();
	await editor.succeeded(CHARGE);
	if (shooting.newestHash === before) throw new Error('The workflow has charged nobody.');
	await shooting.say('The workflow waits');
	await shooting.pay(shooting.newestHash, 'The customer pays');
	await editor.succeeded(WAIT);
	node = await editor.openNode(WAIT);
	await node.output('paid', shooting.newestHash);
	await shooting.say('Paid: read from the service, not believed from the webhook');
	await node.close();
}

async function trigger(shooting: Shooting): Promise<void> {
	const { editor, n8n } = shooting;
	await editor.openNew();
	await shooting.say('The trigger starts a workflow when somebody has paid');
	const node = await editor.addTrigger('On transaction paid');
	const url = (await node.testUrl()).replace('/webhook-test/', '/webhook/');
	await shooting.say('Its URL goes into the service, or into the charges of a workflow');
	await node.close();
	await editor.publish();
	await editor.gotIt();
	const hash = await chargeAt(n8n.sandbox, url);
	await shooting.pay(hash, 'A sale at the checkout');
	const execution = await editor.openNewestExecution(TRIGGER);
	await execution.output(hash, 'paid', 'true');
	await shooting.say('The sale has started the workflow, verified at the service');
}

async function agent(shooting: Shooting): Promise<void> {
	const { editor, n8n, page } = shooting;
	const hash = shooting.newestHash;
	const model = await serveModel(
		[{ tool: TOOL.called, args: () => ({ transaction_hash: hash }) }],
		(answers) => (answers.join().includes('paid') ? ANSWER : 'Not yet.'),
	);
	try {
		const { id } = await n8n.rest.createWorkflow(
			await agentWorkflow(n8n.rest, model.url, await savedCredential(n8n)),
		);
		await editor.openWorkflow(id);
		await shooting.say(
			'The node is a tool of an AI Agent, too. A stand-in plays the chat model here',
		);
		const node = await editor.openNode(TOOL.name);
		await shooting.say('The model fills in the hash, and nothing else');
		await node.close();
		await shooting.say('A question in the chat');
		await editor.askInChat(`Has the customer of ${hash} paid?`, ANSWER);
		await shooting.say('The agent has read the transaction and answers');
		await page.waitForTimeout(1_000);
	} finally {
		await model.close();
	}
}

/** The one that was made in the film. */
async function savedCredential({ rest }: EmptyN8n) {
	const saved = await rest.credentials();
	const [ours] = saved;
	if (!ours) throw new Error('The film has saved no credential.');
	return ours;
}

async function main(): Promise<void> {
	await capture('ffmpeg', ['-version'], ROOT).catch(() => {
		throw new Error('The film is encoded by ffmpeg. Install it (Debian: apt-get install ffmpeg).');
	});
	const browser = await openBrowser({ slowMo: PACE_MS });
	selectors.setTestIdAttribute('data-test-id');
	const recorder = await Recorder.open();
	let n8n: EmptyN8n | undefined;
	try {
		const empty = await step('An n8n and a registry', async () => await EmptyN8n.open('film'));
		n8n = empty;
		await step('The package', async () => await empty.publishPresent());
		const [page, servicePage] = [await pageOf(browser), await pageOf(browser)];
		const shooting = new Shooting(empty, page, servicePage, recorder);
		for (const one of [page, servicePage]) await shooting.captions.on(one);
		await shooting.editor.open(DEMO_LOGIN);
		await recorder.show(page);
		await shooting.say('n8n-nodes-digital-sales: products, offers and PIX charges in n8n');
		for (const scene of [installation, credential, actions, trigger, agent]) {
			await step(`Scene: ${scene.name}`, async () => await scene(shooting));
		}
		await shooting.say('');
		const seconds = await step('Encoding', async () => await recorder.save(FILM));
		tell(`${path.relative(ROOT, FILM)} runs for ${seconds.toFixed(0)} s.`);
		if (seconds > LONGEST_SECONDS) throw new Error(`n8n takes ${LONGEST_SECONDS} s at most.`);
	} finally {
		await browser.close();
		await n8n?.close();
		await recorder.close();
	}
}

main().catch((error: unknown) => {
	tell(messageOf(error));
	process.exitCode = 1;
});
