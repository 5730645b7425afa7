import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { ROOT } from '../n8n/paths';
import { noteMade, PICTURES } from '../pictured';
import { reducePng } from './palettePng';

const REPORTS = path.join(ROOT, 'reports', 'browser');

/** All other pictures only show how a run went. */
const IN_DOCUMENTATION = [
	'credential-fails',
	'pick-a-product',
	'create-pix',
	'trigger-listens',
	'execution',
];

export const EXAMPLES = 'examples/';

/** In pixels. */
export interface Area {
	x: number;
	y: number;
	width: number;
	height: number;
}

/** Hides the button that a node shows under the pointer. */
const HOVER_STYLE = '[data-test-id^="execute-workflow-button-"] { visibility: hidden !important; }';

/** The dots of the canvas would make the files larger. */
const CANVAS_STYLE =
	'[data-test-id="canvas-controls"], [class*="_executionButtons_"], [class*="_nodeButtonsWrapper_"], .vue-flow__background { visibility: hidden !important; }';

async function atRest(page: Page): Promise<void> {
	// The style stays, because a pop-up would also block the next click.
	await page.addStyleTag({ content: '.el-notification { display: none !important; }' });
	await page.mouse.move(640, 8);
	await page.waitForTimeout(400);
}

/**
 * Saves a picture of the page, or of an area of the canvas without the editor's buttons. Only with PICTURES=docs does
 * it renew the documentation. Otherwise the picture goes to the reports, so that a test run changes no source.
 */
export async function picture(page: Page, name: string, clip?: Area): Promise<void> {
	await atRest(page);
	const file = fileOf(`${name}.png`);
	const common = { path: file, animations: 'disabled' } as const;
	// The notes of a workflow are small.
	const of = clip && ({ clip, scale: 'device', style: HOVER_STYLE + CANVAS_STYLE } as const);
	const png = await page.screenshot({
		...common,
		...(of ?? { scale: 'css', style: HOVER_STYLE }),
	});
	if (!file.startsWith(PICTURES)) return;
	writeFileSync(file, reducePng(png));
	noteMade(path.relative(PICTURES, file));
}

function fileOf(name: string): string {
	const inDocumentation = IN_DOCUMENTATION.includes(path.parse(name).name);
	const renewed = inDocumentation || name.startsWith(EXAMPLES);
	return path.join(renewed && process.env.PICTURES === 'docs' ? PICTURES : REPORTS, name);
}
