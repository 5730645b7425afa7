import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../n8n/paths';
import { noteMade, PICTURES } from '../pictured';

const REPORTS = path.join(ROOT, 'reports', 'browser');

/** Those of the documentation; the others only show how a run went. */
const IN_DOCUMENTATION = [
	'credential-fails',
	'pick-a-product',
	'create-pix',
	'trigger-listens',
	'execution',
	'first-charge',
];

/** Begins the names of the pictures of the examples, one each. */
export const EXAMPLES = 'examples/';

/** A part of a page, in pixels. */
export interface Area {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** What a node shows only while the pointer is on it, or was on it last. */
const HOVER_STYLE = '[data-test-id^="execute-workflow-button-"] { visibility: hidden !important; }';

/** The editor's own buttons, which lie over the canvas. */
const BUTTONS_STYLE =
	'[data-test-id="canvas-controls"], [class*="_executionButtons_"] { visibility: hidden !important; }';

/** Waits until nothing moves, and nothing pops up any more. */
export async function atRest(page: Page): Promise<void> {
	// For good: what pops up in the corner would also stand in the way of the next click.
	await page.addStyleTag({ content: '.el-notification { display: none !important; }' });
	await page.mouse.move(640, 8);
	await page.waitForTimeout(400);
}

/**
 * Saves what the page shows. With PICTURES=docs the pictures of the documentation are renewed;
 * otherwise all go to the reports, so that a test run leaves the sources as they are. Of an area the
 * editor's own buttons are left out.
 */
export async function picture(page: Page, name: string, clip?: Area): Promise<void> {
	await atRest(page);
	const file = fileOf(`${name}.png`);
	await mkdir(path.dirname(file), { recursive: true });
	await page.screenshot({
		path: file,
		animations: 'disabled',
		style: clip === undefined ? HOVER_STYLE : HOVER_STYLE + BUTTONS_STYLE,
		...(clip === undefined ? {} : { clip }),
	});
	noteSaved(file);
}

/** A picture of the documentation knows what it shows. */
export function noteSaved(file: string): void {
	if (file.startsWith(PICTURES)) noteMade(path.relative(PICTURES, file));
}

/** Where a picture is saved. */
export function fileOf(name: string): string {
	const inDocumentation = IN_DOCUMENTATION.includes(path.parse(name).name);
	const renewed = inDocumentation || name.startsWith(EXAMPLES);
	return path.join(renewed && process.env.PICTURES === 'docs' ? PICTURES : REPORTS, name);
}
