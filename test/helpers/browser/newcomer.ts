import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Browser, type Page, selectors } from 'playwright-core';
import type { SandboxOptions } from '../../sandbox';
import { openBrowser } from '../chromium';
import { type N8n, startN8n } from '../n8n/n8n';
import { ROOT } from '../n8n/paths';
import { CleanUp } from '../n8n/processes';
import { DEMO_LOGIN } from '../n8n/rest';
import { Editor } from './editor';

export const INSTALL_AND_START_MS = 15 * 60_000;
const VIEWPORT = { width: 1280, height: 800 };
/** The notes of a workflow are small, and most screens show two pixels for each pixel of a page. */
const PIXELS = 2;
const PATIENCE_MS = 60_000;

/** An n8n with the package, and no credential or workflow. */
export interface Newcomer {
	n8n: N8n;
	/** Signed in, with an empty workflow. */
	editor: Editor;
	openPage(): Promise<Page>;
	stop(): Promise<void>;
}

export async function startNewcomer(service: SandboxOptions = {}): Promise<Newcomer> {
	// The editor names its elements in this attribute.
	selectors.setTestIdAttribute('data-test-id');
	const cleanUp = new CleanUp();
	try {
		const browser = await openBrowser();
		cleanUp.add(async () => await browser.close());
		const n8n = await startN8n('browser', { has: 'package', sandbox: service });
		cleanUp.add(n8n.close);
		const editor = new Editor(await pageOf(browser), n8n.url);
		await editor.open(DEMO_LOGIN);
		const openPage = async (): Promise<Page> => await pageOf(browser);
		return { n8n, editor, openPage, stop: cleanUp.run };
	} catch (error) {
		await cleanUp.run();
		throw error;
	}
}

export async function pageOf(browser: Browser): Promise<Page> {
	const page = await browser.newPage({
		viewport: VIEWPORT,
		deviceScaleFactor: PIXELS,
		colorScheme: 'light',
	});
	page.setDefaultTimeout(PATIENCE_MS);
	return page;
}

/** By language. */
const WAYS = [
	['README.md', '## Your first paid charge', '**That is all you need to start.'],
	['docs/leia-me.md', '## Sua primeira cobrança paga', '**Para começar, é só isso.'],
].map(([page = '', begin = '', end = '']): [page: string, way: string] => {
	const text = readFileSync(path.join(ROOT, page), 'utf8');
	return [page, text.slice(text.indexOf(begin), text.indexOf(end))];
});

/** @throws Error if the first steps in one of the languages do not mention a name that the screen shows */
export function told(name: string): string {
	const silent = WAYS.filter(([, way]) => !way.includes(`**${name}**`));
	for (const [page] of silent) throw new Error(`${page} does not say "${name}"`);
	return name;
}

/** Counts the clicks from now on; a double click is one. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
	await page.evaluate(`
		window.clicks = 0;
		addEventListener('pointerdown', () => (window.clicks += 1), true);
		addEventListener('dblclick', () => (window.clicks -= 1), true);`);
	return async () => Number(await page.evaluate('window.clicks'));
}

/** The steps of a person on the sandbox's page. */
export class SandboxPage {
	constructor(
		readonly page: Page,
		private readonly url: string,
	) {}

	/** Opens or reloads the page. */
	async open(): Promise<void> {
		await this.page.bringToFront();
		await this.page.goto(this.url);
	}

	async pay(hash: string): Promise<void> {
		await this.page.locator(`[data-testid="pay-${hash}"]`).click();
		await this.page
			.locator(`[data-testid="badge-${hash}"]`)
			.getByText('paid', { exact: true })
			.waitFor();
	}

	/** Returns the answer of the address. */
	async sendTestNotice(url: string): Promise<string> {
		await this.page.locator('[data-testid="test-notice-url"]').fill(url);
		await this.page.locator('[data-testid="test-notice-send"]').click();
		const result = this.page.locator('[data-testid="test-notice-result"]');
		await result.getByText('Answered').waitFor();
		return await result.innerText();
	}
}
