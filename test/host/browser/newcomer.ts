import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { selectors, type Browser, type Page } from 'playwright-core';
import { startN8n, type N8nInstance } from '../n8n/instance';
import { installHost } from '../n8n/host';
import { once } from '../n8n/once';
import { installPackage, packBuild } from '../n8n/packageInstall';
import { DATA_FOLDER } from '../n8n/paths';
import { N8nRest } from '../n8n/rest';
import { DEMO_LOGIN } from '../n8n/setUp';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { openBrowser } from '../../support/chromium';
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
	const browser = await openBrowser();
	// n8n's editor marks its elements by this attribute.
	selectors.setTestIdAttribute('data-test-id');
	await installHost();
	const userFolder = await mkdtemp(path.join(tmpdir(), 'digital-sales-browser-'));
	const { tarball, remove } = await packBuild();
	await installPackage(tarball, userFolder).finally(remove);
	const sandbox = await startSandbox(service);
	let n8n: N8nInstance | undefined;
	const stop = once(async () => {
		await browser.close();
		await n8n?.stop();
		await sandbox.close();
		await rm(userFolder, { recursive: true, force: true, maxRetries: 3 });
	});
	try {
		n8n = await startN8n({ userFolder, log: path.join(DATA_FOLDER, 'browser.log') });
		const rest = new N8nRest(n8n.url);
		await rest.signIn(DEMO_LOGIN);
		const editor = new Editor(await pageOf(browser), n8n.url);
		await editor.open(DEMO_LOGIN);
		return { sandbox, editor, rest, openPage: async () => await pageOf(browser), stop };
	} catch (error) {
		await stop();
		throw error;
	}
}

/** A page of the size that the pictures have. */
export async function pageOf(browser: Browser): Promise<Page> {
	const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
	page.setDefaultTimeout(PATIENCE_MS);
	return page;
}
