import type { Page } from 'playwright-core';

/** The page of the sandbox, used as a person uses it. */
export class SandboxPage {
	constructor(
		readonly page: Page,
		private readonly url: string,
	) {}

	/** Opens it, or shows it as it is now. */
	async open(): Promise<void> {
		await this.page.bringToFront();
		await this.page.goto(this.url);
	}

	/** Pays a transaction by its button. */
	async pay(hash: string): Promise<void> {
		await this.page.locator(`[data-testid="pay-${hash}"]`).click();
		await this.page
			.locator(`[data-testid="badge-${hash}"]`)
			.getByText('paid', { exact: true })
			.waitFor();
	}

	/** Has a notice sent to an address, and returns what that answered. */
	async sendTestNotice(url: string): Promise<string> {
		await this.page.locator('[data-testid="test-notice-url"]').fill(url);
		await this.page.locator('[data-testid="test-notice-send"]').click();
		const result = this.page.locator('[data-testid="test-notice-result"]');
		await result.getByText('Answered').waitFor();
		return await result.innerText();
	}
}
