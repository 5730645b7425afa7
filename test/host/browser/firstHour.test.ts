import type { CredentialDialog, Editor, NodeView } from './editor';
import { INSTALL_AND_START_MS, type Newcomer, SandboxPage, startNewcomer } from './newcomer';
import { picture, top } from './pictures';

const NODES = {
	list: 'Get many products',
	offer: 'Create an offer',
	charge: 'Create a PIX transaction',
	get: 'Get a transaction',
	trigger: 'Digital Sales Trigger',
};
const PRODUCT = 'Curso de Confeitaria Artesanal';

let newcomer: Newcomer;
let editor: Editor;
let service: SandboxPage;
let node: NodeView;
let dialog: CredentialDialog;
let broken: string | undefined;

beforeAll(async () => {
	newcomer = await startNewcomer();
	({ editor } = newcomer);
	service = new SandboxPage(await newcomer.openPage(), newcomer.sandbox.pageUrl);
	await editor.page.bringToFront();
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
});

/** One step of the hour. Each builds on those before it, and says so if one of them failed. */
function inTurn(work: () => Promise<void>): () => Promise<void> {
	return async () => {
		if (broken !== undefined) throw new Error(`Not reached, because this failed: ${broken}`);
		broken = expect.getState().currentTestName;
		try {
			await work();
		} catch (error) {
			await picture(editor.page, 'failed').catch(() => {});
			throw error;
		}
		broken = undefined;
	};
}

function newestHash(): string {
	return newcomer.sandbox.transactions.at(-1)?.hash ?? '';
}

async function enterToken(apiToken: string): Promise<void> {
	await dialog.fill('baseUrl', newcomer.sandbox.baseUrl);
	await dialog.fill('apiToken', apiToken);
}

describe('the first hour in the editor', () => {
	it(
		'finds the nodes by "vendas", "payment" and "pix"',
		inTurn(async () => {
			for (const word of ['vendas', 'payment', 'pix']) {
				expect(await editor.search(word)).toContain('Digital Sales');
			}
			await picture(editor.page, 'search');
		}),
	);

	it(
		'shows the trigger and the actions in one entry',
		inTurn(async () => {
			const entry = await editor.openEntry();
			expect(entry).toContain('On transaction paid');
			for (const action of [NODES.list, NODES.offer, NODES.charge, NODES.get]) {
				expect(entry).toContain(action);
			}
			await picture(editor.page, 'find-the-node');
		}),
	);

	it(
		'says that the token of the credential is wrong',
		inTurn(async () => {
			node = await editor.addAction(NODES.list);
			dialog = await node.newCredential();
			await picture(editor.page, 'credential-empty');
			await enterToken('wrong-token-1');
			const said = await dialog.saveAndFail('The service does not accept the API token (401)');
			expect(said).not.toContain('wrong-token-1');
			await picture(editor.page, 'credential-fails');
		}),
	);

	it(
		'says that the path of the credential is wrong',
		inTurn(async () => {
			const { baseUrl, apiToken } = newcomer.sandbox;
			await enterToken(apiToken);
			await dialog.fill('baseUrl', baseUrl.replace('/api/public/v1', '/shop'));
			const said = await dialog.saveAndFail('Check the path in Base URL');
			expect(said).toContain('The host answers, but there is no API under this path');
			await picture(editor.page, 'credential-wrong-path');
		}),
	);

	it(
		'accepts the right credential',
		inTurn(async () => {
			const { apiToken, bodyApiToken } = newcomer.sandbox;
			await enterToken(apiToken);
			await dialog.fill('bodyApiToken', bodyApiToken);
			await dialog.saveAndSucceed();
			dialog = await node.editCredential();
			expect(await dialog.tested()).toContain('Connection tested successfully');
			await picture(editor.page, 'credential-works');
			await dialog.close();
		}),
	);

	it(
		'lists products',
		inTurn(async () => {
			expect(await node.execute('50 items', PRODUCT)).toContain('product_hash');
			await picture(editor.page, 'list-products');
			await node.close();
		}),
	);

	it(
		'warns that each of many items makes an offer',
		inTurn(async () => {
			node = await editor.addAction(NODES.offer, NODES.list);
			await node.output('Creates one offer for each input item');
			await picture(editor.page, 'many-items');
			await node.close();
			node = await editor.openNode(NODES.list);
			await node.fill('limit', '1');
			expect(await node.execute('1 item', PRODUCT)).not.toContain('50 items');
			await node.close();
		}),
	);

	it(
		'picks a product from the list',
		inTurn(async () => {
			node = await editor.openNode(NODES.offer);
			const found = await node.search('productHash', 'confeitaria');
			expect(found.length).toBeGreaterThan(0);
			expect(found.join('\n')).toMatch(/R\$ \d+,\d\d/);
			await picture(editor.page, 'pick-a-product');
			await node.pick(PRODUCT);
			expect(await node.picked('productHash')).toContain(PRODUCT);
		}),
	);

	it(
		'says what is wrong with an ambiguous price, and creates the offer',
		inTurn(async () => {
			await node.fill('title', 'Semana do Cliente');
			await node.fill('price', '4.990');
			expect(await node.execute('is ambiguous')).toMatch(
				/Price in Reais is ambiguous.*4990,00 or 4,99/,
			);
			await picture(editor.page, 'price-in-reais');
			expect(newcomer.sandbox.offers).toHaveLength(0);
			await node.fill('price', '49,90');
			expect(await node.execute('49.9', 'Semana do Cliente')).toContain('hash');
			await picture(editor.page, 'create-offer');
			const [made] = newcomer.sandbox.offers;
			expect(made?.offer).toMatchObject({ title: 'Semana do Cliente', price: 4990 });
			await node.close();
		}),
	);

	it(
		'creates a PIX charge',
		inTurn(async () => {
			await editor.tidyUp();
			node = await editor.addAction(NODES.charge, NODES.offer);
			await node.addEntry('Add Item');
			await picture(editor.page, 'create-pix-form');
			await node.search('offerHash', 'confeitaria');
			await node.pick('Semana do Cliente');
			await node.fill('customerName', 'Maria da Silva');
			await node.fill('customerEmail', 'maria@example.com');
			await node.fill('customerPhone', '(11) 91234-5678');
			await node.fill('customerDocument', '529.982.247-24');
			expect(await node.execute('not a valid CPF')).toContain('Customer CPF or CNPJ');
			await picture(editor.page, 'wrong-cpf');
			await node.fill('customerDocument', '529.982.247-25');
			const output = await node.execute('waiting_payment', 'pix_qr_code');
			expect(output).toContain(newestHash());
			await picture(editor.page, 'create-pix-table');
			await node.viewPicture();
			await picture(editor.page, 'create-pix');
			// What was left blank in the cart came from the offer.
			expect(newcomer.sandbox.transactions.at(-1)?.amount).toBe(4990);
			expect(newcomer.sandbox.charges()).toBe(1);
		}),
	);

	it(
		'names an entry of the cart by its offer where n8n names entries',
		inTurn(async () => {
			await node.close();
			await editor.nameEntries(true);
			node = await editor.openNode(NODES.charge);
			expect(await node.entryTitled('R$ 49,90 · Semana do Cliente')).not.toBe('');
			await picture(editor.page, 'cart-entry');
			await node.close();
			await editor.nameEntries(false);
		}),
	);

	it(
		'reads the charge',
		inTurn(async () => {
			await editor.tidyUp();
			node = await editor.addAction(NODES.get, NODES.charge);
			expect(await node.execute('waiting_payment', newestHash())).toContain('hash');
			await picture(editor.page, 'get');
		}),
	);

	it(
		'puts out the fields that are chosen',
		inTurn(async () => {
			await node.addOption('Fields');
			await node.chooseMore('fields', 'Customer Document');
			const output = await node.execute('customer_document', '52998224725');
			expect(output).toContain('customer_email');
			await picture(editor.page, 'fields');
			await node.close();
		}),
	);

	it(
		'refuses to notify a trigger that is not there',
		inTurn(async () => {
			node = await editor.openNode(NODES.charge);
			await node.choose('notify', 'Trigger of This Workflow');
			await node.execute('Notify is set to Trigger of This Workflow', 'publish the workflow');
			expect(newcomer.sandbox.charges()).toBe(1);
			await picture(editor.page, 'no-trigger');
			await node.close();
		}),
	);

	it(
		'listens for a test event and gets it',
		inTurn(async () => {
			await editor.tidyUp();
			node = await editor.addTrigger('On transaction paid');
			const url = await node.testUrl();
			expect(url).toContain('/webhook-test/');
			expect(await node.triggerHelp()).toContain('Test With Transaction');
			await picture(editor.page, 'trigger');
			await node.listen();
			await picture(editor.page, 'trigger-listens');
			await service.open();
			const unwanted = await service.sendTestNotice(url);
			expect(unwanted).toContain('is waiting_payment, which Trigger On does not let in');
			await picture(service.page, 'test-notice-unwanted', top(640));
			await service.pay(newestHash());
			expect(await service.sendTestNotice(url)).toContain('Answered 200');
			await editor.page.bringToFront();
			await node.output(newestHash(), 'paid');
			await node.view('schema');
			await picture(editor.page, 'test-event');
		}),
	);

	it(
		'tries the trigger with a past sale, without any address',
		inTurn(async () => {
			await node.addOption('Test With Transaction');
			await node.fill('testTransaction', 'unknown-hash');
			await node.refused('found nothing');
			await node.fill('testTransaction', newestHash());
			expect(await node.execute(newestHash(), 'paid')).toContain('Maria da Silva');
			await picture(editor.page, 'test-with-transaction');
			await node.close();
		}),
	);

	it(
		'publishes the workflow',
		inTurn(async () => {
			await editor.tidyUp();
			expect(await editor.publish()).toContain('Charges of this workflow now notify this trigger');
			await picture(editor.page, 'published');
			await editor.gotIt();
		}),
	);

	it(
		'charges with the trigger told',
		inTurn(async () => {
			await editor.execute();
			await editor.succeeded(NODES.get);
			await picture(editor.page, 'workflow');
			await editor.page.emulateMedia({ colorScheme: 'dark' });
			await picture(editor.page, 'workflow-dark');
			await editor.page.emulateMedia({ colorScheme: 'light' });
			expect(newcomer.sandbox.charges()).toBe(2);
		}),
	);

	it(
		'pays by a click, and finds the sale in the execution',
		inTurn(async () => {
			const hash = newestHash();
			await service.open();
			await picture(service.page, 'sandbox', top(380));
			await service.pay(hash);
			await editor.page.bringToFront();
			node = await editor.openNewestExecution(NODES.trigger);
			expect(await node.output(hash, 'paid')).toContain('Maria da Silva');
			await node.view('schema');
			await picture(editor.page, 'execution');
		}),
	);
});
