import type { Sandbox } from '../sandbox';
import type { CredentialDialog, Editor, NodeView } from '../helpers/browser/editor';
import {
	INSTALL_AND_START_MS,
	type Newcomer,
	SandboxPage,
	startNewcomer,
} from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';

const NODES = {
	list: 'Get many products',
	offer: 'Create an offer',
	charge: 'Create a PIX transaction',
};
const PRODUCT = 'Curso de Confeitaria Artesanal';

let newcomer: Newcomer;
let sandbox: Sandbox;
let editor: Editor;
let service: SandboxPage;
let node: NodeView;
let dialog: CredentialDialog;
let broken: string | undefined;

beforeAll(async () => {
	newcomer = await startNewcomer();
	({ editor } = newcomer);
	({ sandbox } = newcomer.n8n);
	service = new SandboxPage(await newcomer.openPage(), sandbox.pageUrl);
	await editor.page.bringToFront();
}, INSTALL_AND_START_MS);

afterAll(async () => await newcomer?.stop());

/** One step of the hour. Each step needs the earlier steps, and says so if one of them failed. */
function step(name: string, work: () => Promise<void>): void {
	it(`${name}`, async () => await assertDone(name, work));
}

async function assertDone(name: string, work: () => Promise<void>): Promise<void> {
	if (broken !== undefined) throw new Error(`Not reached, because this failed: ${broken}`);
	broken = name;
	await work().catch(async (error: unknown) => {
		await picture(editor.page, 'failed').catch(() => {});
		throw error;
	});
	broken = undefined;
}

function newestHash(): string {
	return sandbox.transactions.at(-1)?.hash ?? '';
}

async function enterToken(apiToken: string): Promise<void> {
	await dialog.fill('baseUrl', sandbox.baseUrl);
	await dialog.fill('apiToken', apiToken);
}

describe('the first hour in the editor', () => {
	step('finds the nodes by "vendas", "payment" and "pix"', async () => {
		for (const word of ['vendas', 'payment', 'pix']) {
			expect(await editor.search(word)).toContain('Digital Sales');
		}
	});

	step('says that the token of the credential is wrong', async () => {
		await editor.openActions('Digital Sales', 'Actions');
		node = await editor.addAction(NODES.list);
		dialog = await node.newCredential();
		await enterToken('wrong-token-1');
		const said = await dialog.saveAndFail('The platform does not accept the API token (401)');
		expect(said).not.toContain('wrong-token-1');
		await picture(editor.page, 'credential-fails');
	});

	step('accepts the right credential', async () => {
		const { apiToken, bodyApiToken } = sandbox;
		await enterToken(apiToken);
		await dialog.turnOn('platformDiffers');
		await dialog.fill('bodyApiToken', bodyApiToken);
		await dialog.saveAndSucceed();
	});

	step('lists products', async () => {
		expect(await node.execute('50 items', PRODUCT)).toContain('product_hash');
		await node.close();
	});

	step('warns that each of many items makes an offer', async () => {
		node = await editor.addAction(NODES.offer, NODES.list);
		await node.output('Creates one offer for each input item');
		await node.close();
		node = await editor.openNode(NODES.list);
		await node.fill('limit', '1');
		expect(await node.execute('1 item', PRODUCT)).not.toContain('50 items');
		await node.close();
	});

	step('picks a product from the list', async () => {
		node = await editor.openNode(NODES.offer);
		const found = await node.search('productHash', 'confeitaria');
		expect(found.length).toBeGreaterThan(0);
		expect(found.join('\n')).toMatch(/R\$ \d+,\d\d/);
		await picture(editor.page, 'pick-a-product');
		await node.pick(PRODUCT);
		expect(await node.picked('productHash')).toContain(PRODUCT);
	});

	step('says what is wrong with an ambiguous price, and creates the offer', async () => {
		await node.fill('title', 'Semana do Cliente');
		await node.fill('price', '4.990');
		expect(await node.execute('is ambiguous')).toMatch(
			/Price in Reais is ambiguous.*4990,00 or 4,99/,
		);
		expect(sandbox.offers).toHaveLength(0);
		await node.fill('price', '49,90');
		expect(await node.execute('49.9', 'Semana do Cliente')).toContain('hash');
		const [made] = sandbox.offers;
		expect(made?.offer).toMatchObject({ title: 'Semana do Cliente', price: 4990 });
		await node.close();
	});

	step('creates a PIX charge', async () => {
		await editor.tidyUp();
		node = await editor.addAction(NODES.charge, NODES.offer);
		await node.search('offerHash', 'confeitaria');
		await node.pick('Semana do Cliente');
		await node.fill('customerName', 'Maria da Silva');
		await node.fill('customerEmail', 'maria@example.com');
		await node.fill('customerPhone', '(11) 91234-5678');
		await node.fill('customerDocument', '529.982.247-24');
		expect(await node.execute('not a valid CPF')).toContain('Customer CPF or CNPJ');
		await node.fill('customerDocument', '529.982.247-25');
		const output = await node.execute('waiting_payment', 'pix_qr_code');
		expect(output).toContain(newestHash());
		await node.viewPicture();
		await picture(editor.page, 'create-pix');
		// What was left blank in the cart came from the offer.
		expect(sandbox.transactions.at(-1)?.amount).toBe(4990);
		expect(sandbox.charges()).toBe(1);
		await node.close();
	});

	step('listens for a test event and gets it', async () => {
		await editor.tidyUp();
		node = await editor.addTrigger('On transaction paid');
		const url = await node.url('test');
		expect(url).toContain('/webhook-test/');
		await node.listen();
		await picture(editor.page, 'trigger-listens');
		await service.open();
		const unwanted = await service.sendTestNotice(url);
		expect(unwanted).toContain('excluded by Trigger On or the filters');
		await service.pay(newestHash());
		expect(await service.sendTestNotice(url)).toContain('Answered 200');
		await editor.page.bringToFront();
		await node.output(newestHash(), 'paid');
		await node.close();
	});

	step('publishes the workflow', async () => {
		await editor.tidyUp();
		expect(await editor.publish()).toContain('Charges of this workflow now notify this trigger');
	});
});
