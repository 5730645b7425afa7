import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../n8n/paths';
import { noteMade, PICTURES } from '../pictured';
import { reducePng } from './palettePng';

const REPORTS = path.join(ROOT, 'reports', 'browser');

/** The pictures of the documentation; all others only show how a run went. */
const IN_DOCUMENTATION = [
	'credential-fails',
	'pick-a-product',
	'create-pix',
	'trigger-listens',
	'execution',
	'first-charge',
];

/** The folder of the recipes' pictures. */
export const EXAMPLES = 'examples/';

/** A part of a page, in pixels. */
export interface Area {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** Hides what a node shows only under the pointer. */
const HOVER_STYLE = '[data-test-id^="execute-workflow-button-"] { visibility: hidden !important; }';

/** Hides the editor's buttons over the canvas, and its dots, which make the files larger. */
const CANVAS_STYLE =
	'[data-test-id="canvas-controls"], [class*="_executionButtons_"], .vue-flow__background { visibility: hidden !important; }';

/** Waits until nothing moves, and nothing pops up any more. */
export async function atRest(page: Page): Promise<void> {
	// Permanently, because a pop-up in the corner would also block the next click.
	await page.addStyleTag({ content: '.el-notification { display: none !important; }' });
	await page.mouse.move(640, 8);
	await page.waitForTimeout(400);
}

/**
 * Saves a picture of the page, or of an area of the canvas without the editor's buttons. With PICTURES=docs it renews the
 * pictures of the documentation; otherwise all pictures go to the reports, so that a test run changes no source.
 */
export async function picture(page: Page, name: string, clip?: Area): Promise<void> {
	await atRest(page);
	const file = fileOf(`${name}.png`);
	await mkdir(path.dirname(file), { recursive: true });
	const screenshot = await page.screenshot({
		animations: 'disabled',
		style: clip === undefined ? HOVER_STYLE : HOVER_STYLE + CANVAS_STYLE,
		...(clip === undefined ? {} : { clip }),
	});
	await writeFile(file, reducePng(screenshot));
	noteSaved(file);
}

/** Records what a picture of the documentation shows. */
export function noteSaved(file: string): void {
	if (file.startsWith(PICTURES)) noteMade(path.relative(PICTURES, file));
}

export function fileOf(name: string): string {
	const inDocumentation = IN_DOCUMENTATION.includes(path.parse(name).name);
	const renewed = inDocumentation || name.startsWith(EXAMPLES);
	return path.join(renewed && process.env.PICTURES === 'docs' ? PICTURES : REPORTS, name);
}
