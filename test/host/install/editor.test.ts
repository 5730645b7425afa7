import { selectors, type Browser, type Page } from 'playwright-core';
import { openBrowser } from '../../support/chromium';
import { Editor } from '../browser/editor';
import { pageOf } from '../browser/newcomer';
import { picture } from '../browser/pictures';
import { chainOf, createPix, webStart } from '../e2e/stage/workflows';
import { PACKAGE_NAME } from '../n8n/paths';
import { DEMO_LOGIN } from '../n8n/rest';
import { CommunityNodesPage } from './stage/communityNodesPage';
import { EmptyN8n, OLDER_VERSION } from './stage/emptyN8n';

const INSTALL_AND_START_MS = 15 * 60_000;

/** Each step builds on the one before it. */
describe('Settings > Community nodes', () => {
	let empty: EmptyN8n;
	let browser: Browser;
	let page: Page;
	let editor: Editor;
	let settings: CommunityNodesPage;

	beforeAll(async () => {
		browser = await openBrowser();
		selectors.setTestIdAttribute('data-test-id');
		empty = await EmptyN8n.open('install-editor');
		await empty.publishOlder();
		page = await pageOf(browser);
		editor = new Editor(page, empty.n8n.url);
		settings = new CommunityNodesPage(page, empty.n8n.url);
		await editor.open(DEMO_LOGIN);
	}, INSTALL_AND_START_MS);
	afterAll(async () => {
		if (page) await picture(page, 'install-last');
		await browser?.close();
		await empty?.close();
	});

	test("the clicks of the README's first step install the package", async () => {
		await settings.open();
		const card = await settings.install();
		expect(card).toContain('2 nodes');
		expect(card).toContain(`v${OLDER_VERSION}`);
		await editor.openNew();
		expect(await editor.search('pix')).toContain('Digital Sales');
	});

	test('a newer version is offered, and the button installs it', async () => {
		await empty.publishPresent();
		const [installed] = await empty.packages.list();
		const latest = installed?.updateAvailable ?? '';
		await settings.open();
		expect(await settings.update(latest)).toContain(`v${latest}`);
		expect(await empty.packages.list()).toMatchObject([{ installedVersion: latest }]);
	});

	test('uninstalled, a node of a workflow says which package is missing', async () => {
		const workflow = chainOf('A charge', await empty.n8n.createCredential(), [
			webStart('charge'),
			createPix(),
		]);
		const { id } = await empty.n8n.rest.createWorkflow(workflow);
		await settings.open();
		await settings.uninstall();
		await editor.openWorkflow(id);
		await page.getByTestId('canvas-node').filter({ hasText: 'Charge' }).dblclick();
		const missing = page.getByTestId('ndv').getByText('This node is not currently installed');
		expect(await missing.innerText()).toContain(`the ${PACKAGE_NAME} community package`);
	});
});
