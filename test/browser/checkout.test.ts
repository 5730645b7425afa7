import type { Browser, Page } from 'playwright-core';
import { recipeOf } from '../../examples/source';
import { render } from '../../examples/source/workflow';
import { openBrowser } from '../helpers/chromium';
import { readQrCode } from '../helpers/readQrCode';
import { until } from '../helpers/until';
import { MailServer } from '../helpers/e2e/mailServer';
import { type N8n, startN8n } from '../helpers/n8n/n8n';
import { LOOPBACK } from '../helpers/n8n/processes';
import { INSTALL_AND_START_MS } from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';

const RECIPE = 'charge-by-email';
const PHONE = { width: 390, height: 844 };
const SENDER = 'Loja <loja@example.test>';

let browser: Browser;
let n8n: N8n;
let mailServer: MailServer;
let form = '';

beforeAll(async () => {
	mailServer = await MailServer.open();
	browser = await openBrowser();
	n8n = await startN8n('checkout', { has: 'package' });
	const { rest, sandbox, url } = n8n;
	const server = { host: LOOPBACK, port: mailServer.port, secure: false, disableStartTls: true };
	const credentials = {
		digitalSalesApi: await n8n.createCredential(),
		smtp: await rest.createCredential('Mail', 'smtp', server),
	};
	const workflow = render(recipeOf(RECIPE), RECIPE, 'pt-BR');
	const offer = JSON.stringify({
		__rl: true,
		mode: 'hash',
		value: sandbox.products[0]?.offers[0]?.hash,
	});
	const nodes = workflow.nodes.map((node) => {
		const parameters = JSON.stringify(node.parameters)
			.replace(/(?<="offerHash":)\{[^}]*\}/, offer)
			.replace(/(?<="fromEmail":)""/, JSON.stringify(SENDER));
		return { ...node, parameters: JSON.parse(parameters) as object, credentials };
	});
	await rest.publish(await rest.createWorkflow({ ...workflow, nodes }));
	const start = workflow.nodes.find(({ type }) => type.endsWith('.formTrigger'));
	form = `${url}/form/${String(Object(start?.parameters.options).path)}`;
}, INSTALL_AND_START_MS);

afterAll(async () => {
	await n8n?.close();
	await browser?.close();
	await mailServer?.close();
});

const fill = async (page: Page, values: Record<string, string>): Promise<void> => {
	for (const [label, value] of Object.entries(values)) await page.getByLabel(label).fill(value);
};

/** Whether the page fits the width of the screen. */
const fits = async (page: Page): Promise<boolean> =>
	await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');

test('a customer with a phone can correct a mistyped CPF, copy the code and pay, in Portuguese', async () => {
	const context = await browser.newContext({
		viewport: PHONE,
		deviceScaleFactor: 2,
		isMobile: true,
		hasTouch: true,
		locale: 'pt-BR',
	});
	const page = await context.newPage();
	// The fonts of n8n's pages are on the internet.
	await page.goto(form, { waitUntil: 'domcontentloaded' });
	const customer = {
		'Nome completo': 'Maria da Silva',
		'E-mail': 'maria@example.test',
		'WhatsApp com DDD': '(11) 98765\u20114321',
		'CPF ou CNPJ': '529.982.247-26',
	};
	await fill(page, customer);
	await picture(page, 'checkout-1-form');
	await page.getByRole('button', { name: 'Gerar meu Pix' }).click();

	await page.getByRole('heading', { name: 'Confira seu CPF ou CNPJ' }).waitFor();
	expect(await page.innerText('body')).toContain('Nada foi cobrado');
	expect(await fits(page)).toBe(true);
	await picture(page, 'checkout-2-typo');
	await page.getByRole('link', { name: 'Voltar ao formulário' }).click();

	await page.getByRole('button', { name: 'Gerar meu Pix' }).waitFor();
	expect(await page.getByLabel('Nome completo').inputValue()).toBe('Maria da Silva');
	expect(n8n.sandbox.transactions).toEqual([]);
	await fill(page, { 'CPF ou CNPJ': '529.982.247-25' });
	await page.getByRole('button', { name: 'Gerar meu Pix' }).click();

	await page.getByRole('heading', { name: 'Seu Pix está pronto' }).waitFor();
	const [charge] = n8n.sandbox.transactions;
	const code = charge?.pix?.pix_qr_code ?? '';
	const text = await page.innerText('body');
	expect(text).toMatch(/R\$\s\d+,\d\d/);
	expect(text).not.toMatch(/Form Submitted|undefined|null/);
	const shown = page.getByAltText('QR Code');
	expect(readQrCode(await shown.screenshot())).toBe(code);
	expect(await fits(page)).toBe(true);
	await picture(page, 'checkout-3-pix');
	await page.getByRole('button', { name: 'Copiar código Pix' }).tap();
	await page.getByRole('button', { name: 'Copiado' }).waitFor();
	await picture(page, 'checkout-4-copied');
	const bank = await context.newPage();
	await bank.setContent('<textarea></textarea>');
	await bank.locator('textarea').focus();
	await bank.keyboard.press('Control+V');
	expect(await bank.locator('textarea').inputValue()).toBe(code);
	await bank.close();

	await until('the PIX by e-mail', () => mailServer.mails[0]?.html.includes(code));
	await n8n.sandbox.pay(charge?.hash ?? '');
	await until('the confirmation', () => mailServer.mails[1]?.subject, { withinMs: 80_000 });
	expect(mailServer.mails[1]?.subject).toContain('Pagamento confirmado');
	await context.close();
}, 180_000);
