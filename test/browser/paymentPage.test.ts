import path from 'node:path';
import type { Page } from 'playwright-core';
import { countClicks } from '../helpers/browser/clicks';
import { INSTALL_AND_START_MS, type Newcomer, startNewcomer } from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';
import { ROOT } from '../helpers/n8n/paths';
import { readQrCode } from '../helpers/readQrCode';

const RECIPE = 'examples/pt-BR/payment-page.json';
const PHONE = { width: 390, height: 844 };
/** With one e-mail, two orders on a day would be one. */
const customer = (email: string, document = '529.982.247-25') => ({
	'Nome completo': 'Maria da Silva',
	'E-mail': email,
	'WhatsApp com DDD': '(11) 98765\u20114321',
	'CPF ou CNPJ': document,
});

let newcomer: Newcomer;

beforeAll(async () => {
	newcomer = await startNewcomer();
	await newcomer.n8n.createCredential();
}, INSTALL_AND_START_MS);

afterAll(async () => await newcomer?.stop());

/** With the keyboard, as a person does on a form. */
async function order(form: Page, answers: Record<string, string>): Promise<void> {
	await form.setViewportSize(PHONE);
	await form.getByLabel('Nome completo').click();
	for (const answer of Object.values(answers)) {
		await form.keyboard.press('Control+A');
		await form.keyboard.type(answer);
		await form.keyboard.press('Tab');
	}
	await form.getByRole('button', { name: 'Gerar meu Pix' }).click();
}

/** Whether the page fits the width of the screen. */
const fits = async (page: Page): Promise<boolean> =>
	await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');

/** The code on the page, which the picture holds as well. */
async function shownCode(page: Page): Promise<string> {
	await page.getByRole('heading', { name: 'Seu Pix está pronto' }).waitFor();
	const code = await page.locator('#code').inputValue();
	expect(readQrCode(await page.getByAltText('QR Code').screenshot())).toBe(code);
	return code;
}

/** Pays the newest charge, which the page then says. */
async function pay(page: Page): Promise<void> {
	const { sandbox } = newcomer.n8n;
	await sandbox.pay(sandbox.transactions.at(-1)?.hash ?? '');
	await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor({ timeout: 80_000 });
	expect(await fits(page)).toBe(true);
}

test('the payment page leads from its import to a paid charge in 12 clicks', async () => {
	const { editor, n8n } = newcomer;
	const { page } = editor;
	const clicks = await countClicks(page.context());
	await editor.openNew();
	// A person is slower than the list of credentials.
	await page.waitForLoadState('networkidle');

	await editor.importFile('Import', 'From file', path.join(ROOT, RECIPE));
	const node = await editor.openNode('Gerar Pix');
	await node.openList('offerHash');
	await node.pick();
	await node.close();
	const opened = page.context().waitForEvent('page');
	await editor.executeAll('Execute workflow');
	const form = await opened;
	await form.waitForLoadState('domcontentloaded');
	await order(form, customer('maria@example.test'));
	const code = await shownCode(form);
	await form.getByRole('button', { name: 'Copiar código Pix' }).click();
	await form.getByRole('button', { name: 'Copiado' }).waitFor();
	await pay(form);

	expect(n8n.sandbox.transactions.map(({ pix }) => pix?.pix_qr_code)).toEqual([code]);
	process.stdout.write(`\nFrom the import to a paid charge: ${clicks()} clicks\n`);
	expect(clicks()).toBeLessThanOrEqual(12);
}, 180_000);

test('a customer with a phone corrects a mistyped CPF, copies the code and sees the payment', async () => {
	const { editor, n8n } = newcomer;
	const before = n8n.sandbox.charges();
	await editor.publish('Publish');
	const context = editor.page.context().browser();
	if (!context) throw new Error('There is no browser');
	const phone = await context.newContext({
		viewport: PHONE,
		deviceScaleFactor: 2,
		isMobile: true,
		hasTouch: true,
		locale: 'pt-BR',
	});
	const page = await phone.newPage();
	// The fonts of n8n's pages are on the internet.
	await page.goto(`${n8n.url}/form/pedido-pagina`, { waitUntil: 'domcontentloaded' });
	await picture(page, 'checkout-1-form');
	await order(page, customer('ana@example.test', '529.982.247-26'));

	await page.getByRole('heading', { name: 'Confira seu CPF ou CNPJ' }).waitFor();
	expect(await page.innerText('body')).toContain('Nada foi cobrado');
	expect(await fits(page)).toBe(true);
	await picture(page, 'checkout-2-typo');
	await page.getByRole('link', { name: 'Voltar ao formulário' }).click();

	await page.getByRole('button', { name: 'Gerar meu Pix' }).waitFor();
	expect(await page.getByLabel('Nome completo').inputValue()).toBe('Maria da Silva');
	expect(n8n.sandbox.charges()).toBe(before);
	await order(page, customer('ana@example.test'));

	const code = await shownCode(page);
	const text = await page.innerText('body');
	expect(text).toMatch(/R\$\s\d+,\d\d/);
	expect(text).not.toMatch(/Form Submitted|undefined|null/);
	expect(await fits(page)).toBe(true);
	await picture(page, 'checkout-3-pix');
	await page.getByRole('button', { name: 'Copiar código Pix' }).tap();
	await page.getByRole('button', { name: 'Copiado' }).waitFor();
	const bank = await phone.newPage();
	await bank.setContent('<textarea></textarea>');
	await bank.locator('textarea').focus();
	await bank.keyboard.press('Control+V');
	expect(await bank.locator('textarea').inputValue()).toBe(code);
	await bank.close();
	await page.bringToFront();
	await pay(page);
	await picture(page, 'checkout-4-paid');
	await phone.close();
}, 180_000);
