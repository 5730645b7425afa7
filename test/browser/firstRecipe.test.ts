import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { MailServer } from '../helpers/e2e/mailServer';
import { ROOT } from '../helpers/n8n/paths';
import { LOOPBACK } from '../helpers/n8n/processes';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from '../helpers/browser/newcomer';

const RECIPE = 'examples/en/charge-by-email.json';

let newcomer: Newcomer;
let mailServer: MailServer;

beforeAll(async () => {
	mailServer = await MailServer.open();
	newcomer = await startNewcomer();
	await newcomer.n8n.createCredential();
	const mail = { host: LOOPBACK, port: mailServer.port, secure: false, disableStartTls: true };
	await newcomer.n8n.rest.createCredential('Mail', 'smtp', mail);
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await newcomer?.stop();
	await mailServer?.close();
});

/** Fills in the form of the recipe with the keyboard alone, and sends it. */
async function order(form: Page): Promise<void> {
	await form.getByRole('textbox').first().click();
	for (const answer of [
		'Maria da Silva',
		'maria@example.com',
		'(11) 91234-5678',
		'529.982.247-25',
	]) {
		await form.keyboard.type(answer);
		await form.keyboard.press('Tab');
	}
	await form.getByRole('button').click();
}

test('an imported recipe runs after one choice and a sender if the credentials exist', async () => {
	const { editor, n8n } = newcomer;
	const { page } = editor;
	const steps = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
	expect(steps).toContain('**... > Import > From file**');
	await editor.openNew();
	// A person is slower than the list of credentials.
	await page.waitForLoadState('networkidle');

	await editor.importFile('Import', 'From file', path.join(ROOT, RECIPE));
	const node = await editor.openNode('Charge by PIX');
	await node.openList('offerHash');
	await node.pick();
	await node.close();
	for (const name of ['Send the PIX', 'Confirm the payment']) {
		const mail = await editor.openNode(name);
		await mail.fill('fromEmail', 'shop@example.test');
		await mail.close();
	}
	const opened = page.context().waitForEvent('page');
	await editor.executeAll('Execute workflow');
	const form = await opened;
	await form.waitForLoadState();
	await order(form);
	await editor.succeeded('Send the PIX');

	const [charge] = n8n.sandbox.transactions;
	expect(mailServer.mails[0]?.html).toContain(charge?.pix?.pix_qr_code ?? 'a charge');
});
