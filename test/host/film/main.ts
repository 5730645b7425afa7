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
import { CleanUp } from '../n8n/cleanUp';
import { ROOT } from '../n8n/paths';
import { capture, leave } from '../n8n/processes';
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
const LOOK_MS = 1_500;

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

	async say(text: string, work?: () => Promise<void>): Promise<void> {
		await this.captions.say(this.page, text, work);
	}

	/** The customer pays, in the tab of the service. */
	async pay(hash: string, text: string): Promise<void> {
		const { service, recorder, captions, page } = this;
		await service.open();
		await recorder.show(service.page);
		await captions.say(service.page, text, async () => {
			await service.pay(hash);
			await service.page.waitForTimeout(LOOK_MS);
		});
		await recorder.show(page);
	}

	/** For as long as it takes to look at what is there. */
	async look(): Promise<void> {
		await this.page.waitForTimeout(LOOK_MS);
	}

	get newestHash(): string {
		return this.n8n.sandbox.transactions.at(-1)?.hash ?? '';
	}
}

async function installation(shooting: Shooting): Promise<void> {
	const settings = new CommunityNodesPage(shooting.page, shooting.n8n.url);
	await shooting.say('Install the package in Settings > Community nodes', async () => {
		await settings.open();
		await settings.install();
	});
	await shooting.say('The package has two nodes: an action and a trigger');
}

async function credential(shooting: Shooting): Promise<void> {
	const { editor, n8n } = shooting;
	const { baseUrl, apiToken, bodyApiToken } = n8n.sandbox;
	await editor.openNew();
	await shooting.say('Search for "pix" to find the nodes', async () => {
		await editor.search('pix');
		await editor.openEntry();
		await shooting.look();
	});
	const node = await editor.addAction(LIST);
	const dialog = await node.newCredential();
	await shooting.say('The credential takes a base URL and an API token', async () => {
		await dialog.fill('baseUrl', baseUrl);
		await dialog.fill('apiToken', 'wrong-token-1');
		await dialog.saveAndFail('The service does not accept the API token (401)');
	});
	await shooting.say('Saving tests it: this token is wrong');
	await shooting.say('With the right token, the test succeeds', async () => {
		await dialog.fill('apiToken', apiToken);
		await dialog.fill('bodyApiToken', bodyApiToken);
		await dialog.saveAndSucceed();
	});
	await shooting.say('Product > Get Many lists what you sell', async () => {
		await node.fill('limit', '1');
		await node.execute('1 item');
		await shooting.look();
	});
	await node.close();
}

async function actions(shooting: Shooting): Promise<void> {
	const { editor } = shooting;
	const offer = await editor.addAction(OFFER, LIST);
	await shooting.say(
		'Offer > Create: pick a product from the list, enter a price in reais',
		async () => {
			await offer.search('productHash', 'confeitaria');
			await offer.pickFirst();
			await offer.fill('title', 'Semana do Cliente');
			await offer.fill('price', '49,90');
			await offer.execute('Semana do Cliente');
			await shooting.look();
		},
	);
	await offer.close();

	await editor.tidyUp();
	const charge = await editor.addAction(CHARGE, OFFER);
	await shooting.say(
		'Transaction > Create PIX: pick an offer, enter the customer; the price comes from the catalog',
		async () => {
			await charge.addEntry('Add Item');
			await charge.search('offerHash', 'confeitaria');
			await charge.pick('Semana do Cliente');
			for (const [field, text] of Object.entries(CUSTOMER)) await charge.fill(field, text);
			await charge.execute('waiting_payment', 'pix_qr_code');
		},
	);
	await charge.viewField('pix_qr_code');
	await shooting.say('The PIX code as text, to copy and paste');
	await charge.viewPicture();
	await shooting.say('The same code as a picture, to scan');
	await charge.close();

	await editor.tidyUp();
	const wait = await editor.addAction(WAIT, CHARGE);
	await shooting.say('Transaction > Wait for Payment pauses the workflow until the customer pays');
	await wait.close();
	await editor.tidyUp();
	const before = shooting.newestHash;
	await shooting.say('The workflow charges the customer, then waits', async () => {
		await editor.execute();
		await editor.succeeded(CHARGE);
		if (shooting.newestHash === before) throw new Error('The workflow has charged nobody.');
		await shooting.look();
	});
	await shooting.pay(
		shooting.newestHash,
		'The customer pays. In this film, a local sandbox simulates the service',
	);
	await editor.succeeded(WAIT);
	await (await editor.openNode(WAIT)).output('paid', shooting.newestHash);
	await shooting.say('Paid: the node has checked the payment with the service');
	await wait.close();
}

async function trigger(shooting: Shooting): Promise<void> {
	const { editor, n8n } = shooting;
	await editor.openNew();
	let url = '';
	await shooting.say('The trigger starts a workflow when a customer has paid', async () => {
		const node = await editor.addTrigger('On transaction paid');
		url = (await node.testUrl()).replace('/webhook-test/', '/webhook/');
		await shooting.look();
		await node.close();
	});
	await shooting.say('Publish the workflow, and give its URL to the service', async () => {
		await editor.publish();
		await editor.gotIt();
	});
	const hash = await chargeAt(n8n.sandbox, url);
	await shooting.pay(hash, 'A customer pays at the checkout');
	const execution = await editor.openNewestExecution(TRIGGER);
	await execution.output(hash, 'paid', 'true');
	await shooting.say('The service has confirmed the payment, and the workflow has started');
}

async function agent(shooting: Shooting): Promise<void> {
	const { editor, n8n } = shooting;
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
		await shooting.say('The node is also a tool for AI agents. Here a stand-in plays the model');
		const node = await editor.openNode(TOOL.name);
		await shooting.say('The model can fill in the transaction hash, and nothing else');
		await node.close();
		await editor.writeInChat(`Has the customer of ${hash} paid?`);
		await shooting.say('Ask the agent whether a customer has paid', async () => {
			await editor.sendInChat(ANSWER);
		});
		await shooting.say('The agent has looked up the transaction and answers');
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
	const cleanUp = new CleanUp();
	try {
		const recorder = await Recorder.open();
		cleanUp.add(async () => await recorder.close());
		const browser = await openBrowser({ slowMo: PACE_MS });
		cleanUp.add(async () => await browser.close());
		selectors.setTestIdAttribute('data-test-id');
		const n8n = await step('An n8n and a registry', async () => await EmptyN8n.open('film'));
		cleanUp.add(n8n.close);
		await step('The package', async () => await n8n.publishPresent());
		const [page, servicePage] = [await pageOf(browser), await pageOf(browser)];
		const shooting = new Shooting(n8n, page, servicePage, recorder);
		for (const one of [page, servicePage]) await shooting.captions.on(one);
		await shooting.editor.open(DEMO_LOGIN);
		await recorder.show(page);
		await shooting.say('n8n-nodes-digital-sales: sell digital products and charge by PIX in n8n');
		for (const scene of [installation, credential, actions, trigger, agent]) {
			await step(`Scene: ${scene.name}`, async () => await scene(shooting));
		}
		await shooting.look();
		const seconds = await step('Encoding', async () => await recorder.save(FILM));
		tell(`${path.relative(ROOT, FILM)} runs for ${seconds.toFixed(0)} s.`);
		if (seconds > LONGEST_SECONDS) throw new Error(`n8n takes ${LONGEST_SECONDS} s at most.`);
	} finally {
		await cleanUp.run();
	}
}

main().catch((error: unknown) => leave(1, messageOf(error)));
