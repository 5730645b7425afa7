import type { Page } from 'playwright-core';

/** Counts the clicks that a person would make on a page, wherever it goes. */
export class Clicks {
	private made = 0;

	private constructor() {}

	static async on(page: Page): Promise<Clicks> {
		const clicks = new Clicks();
		await page.exposeFunction('clicked', () => {
			clicks.made++;
		});
		// A script's own clicks are not trusted.
		const listen =
			"document.addEventListener('click', (event) => event.isTrusted && clicked(), true)";
		await page.addInitScript(listen);
		await page.evaluate(listen);
		return clicks;
	}

	count(): number {
		return this.made;
	}
}
