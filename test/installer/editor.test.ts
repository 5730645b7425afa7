import { selectors, type Browser, type Page } from 'playwright-core';
import { openBrowser } from '../helpers/chromium';
import { Editor } from '../helpers/browser/editor';
import { pageOf, told } from '../helpers/browser/newcomer';
import { picture } from '../helpers/browser/pictures';
import { PACKAGE_NAME } from '../helpers/n8n/paths';
import { DEMO_LOGIN } from '../helpers/n8n/rest';
import { type EmptyN8n, startEmptyN8n } from '../helpers/n8n/n8n';

const INSTALL_AND_START_MS = 15 * 60_000;
const VERSION = '0.0.9';

let empty: EmptyN8n;
let browser: Browser;
let page: Page;
let editor: Editor;

beforeAll(async () => {
	browser = await openBrowser();
	selectors.setTestIdAttribute('data-test-id');
	empty = await startEmptyN8n('install-editor');
	await empty.registry.publish(VERSION);
	page = await pageOf(browser);
	editor = new Editor(page, empty.n8n.url);
	await editor.open(DEMO_LOGIN);
}, INSTALL_AND_START_MS);
afterAll(async () => {
	if (page) await picture(page, 'install-last');
	await browser?.close();
	await empty?.close();
});

// Updates and what becomes of workflows are in lifecycle.test.ts.
test("the clicks of the README's first step install the package", async () => {
	const [settings = '', communityNodes = ''] = told('Settings > Community nodes').split(' > ');
	const install = { name: told('Install') };
	const dialog = page.getByRole('dialog');
	await page.goto(`${empty.n8n.url}/home/workflows`);
	await page.getByRole('menuitem', { name: settings }).click();
	await page.getByText(communityNodes, { exact: true }).click();
	await page.waitForURL('**/settings/community-nodes');
	await page.getByRole('button', install).first().click();
	await dialog.getByText(told('npm Package Name'), { exact: true }).waitFor();
	await dialog.getByRole('textbox').fill(PACKAGE_NAME);
	await dialog.getByText(told('I understand the risks')).click();
	// npm and n8n run for as long as they need, so only the test bounds the waits.
	const installed = page.waitForResponse(
		(response) =>
			response.request().method() === 'POST' && response.url().endsWith('/rest/community-packages'),
		{ timeout: 0 },
	);
	await dialog.getByRole('button', install).click();
	expect((await installed).status()).toBe(200);
	const cards = page.getByTestId('community-package-card').filter({ hasText: PACKAGE_NAME });
	const card = await cards.innerText({ timeout: 0 });
	expect(card).toContain('2 nodes');
	expect(card).toContain(`v${VERSION}`);
	await editor.openNew();
	expect(await editor.search('pix')).toContain('Digital Sales');
});
