import { selectors, type Browser, type Page } from 'playwright-core';
import type { Sandbox, SandboxOptions } from '../../sandbox';
import { openBrowser } from '../../support/chromium';
import { CleanUp } from '../n8n/processes';
import { startN8n } from '../n8n/n8n';
import { DEMO_LOGIN, type N8nRest } from '../n8n/rest';
import { Editor } from './editor';

export const INSTALL_AND_START_MS = 15 * 60_000;
const VIEWPORT = { width: 1280, height: 800 };
const PATIENCE_MS = 20_000;

/** What a newcomer finds: a service, and an n8n with the package and nothing else in it. */
export interface Newcomer {
	sandbox: Sandbox;
	/** Signed in, at an empty workflow. */
	editor: Editor;
	/** Signed in. */
	rest: N8nRest;
	/** Opens another page of the browser. */
	openPage(): Promise<Page>;
	stop(): Promise<void>;
}

/**
 * Opens a browser at a fresh n8n with the package, which has an owner but no credential and no
 * workflow.
 */
export async function startNewcomer(service: SandboxOptions = {}): Promise<Newcomer> {
	// n8n's editor marks its elements by this attribute.
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
		return { sandbox: n8n.sandbox, editor, rest: n8n.rest, openPage, stop: cleanUp.run };
	} catch (error) {
		await cleanUp.run();
		throw error;
	}
}

/** A page of the size that the pictures have. */
export async function pageOf(browser: Browser): Promise<Page> {
	const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
	page.setDefaultTimeout(PATIENCE_MS);
	return page;
}
