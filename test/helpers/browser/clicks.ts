import type { BrowserContext } from 'playwright-core';

/** Counts what a person presses in all pages of a browser from now on. A double click counts as one. */
export async function countClicks(context: BrowserContext): Promise<() => number> {
	let clicks = 0;
	await context.exposeBinding('clicked', (_page, detail: number) => {
		if (detail === 1) clicks += 1;
	});
	await context.addInitScript(
		"addEventListener('mousedown', (event) => event.isTrusted && clicked(event.detail), true);",
	);
	return () => clicks;
}
