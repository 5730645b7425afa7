import { access } from 'node:fs/promises';
import { chromium, selectors, type Browser, type Page } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGUMENTS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];
const VIEWPORT = { width: 1280, height: 800 };
const PATIENCE_MS = 20_000;

/**
 * Starts the Chromium of the system without a window.
 *
 * @throws Error that says what to install if there is none; nothing is installed from here
 */
export async function openBrowser(): Promise<Browser> {
	await access(EXECUTABLE).catch(() => {
		throw new Error(
			`The browser test needs Chromium, and there is none at ${EXECUTABLE}. Install it (Debian: apt-get install chromium), or set CHROMIUM to the path of its program.`,
		);
	});
	// n8n's editor marks its elements by this attribute.
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}

/** A page of the size that the pictures have. */
export async function openPage(browser: Browser): Promise<Page> {
	const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
	page.setDefaultTimeout(PATIENCE_MS);
	return page;
}
