import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../n8n/paths';

const REPORTS = path.join(ROOT, 'reports', 'browser');
const DOCUMENTATION = path.join(ROOT, 'docs', 'pictures');

/** Those of the documentation; the others are only for whoever wants to see how a run went. */
const IN_DOCUMENTATION = [
	'find-the-node',
	'credential-fails',
	'pick-a-product',
	'create-pix',
	'trigger-listens',
	'workflow',
	'sandbox',
	'execution',
];

/** What a node shows only while the pointer is on it, or was on it last. */
const HOVER_STYLE = '[data-test-id^="execute-workflow-button-"] { visibility: hidden !important; }';

async function atRest(page: Page): Promise<void> {
	// For good: what pops up in the corner would also stand in the way of the next click.
	await page.addStyleTag({ content: '.el-notification { display: none !important; }' });
	await page.mouse.move(640, 8);
	await page.waitForTimeout(400);
}

/**
 * Saves what the page shows. With PICTURES=docs the pictures of the documentation are renewed;
 * otherwise all go to the reports, so that a test run leaves the sources as they are. With a height
 * only the upper part is kept.
 */
export async function picture(page: Page, name: string, height?: number): Promise<void> {
	await atRest(page);
	const renewed = process.env.PICTURES === 'docs' && IN_DOCUMENTATION.includes(name);
	const folder = renewed ? DOCUMENTATION : REPORTS;
	await mkdir(folder, { recursive: true });
	await page.screenshot({
		path: path.join(folder, `${name}.png`),
		animations: 'disabled',
		style: HOVER_STYLE,
		...(height === undefined ? {} : { clip: { x: 0, y: 0, width: 1280, height } }),
	});
}
