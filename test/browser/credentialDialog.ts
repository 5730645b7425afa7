import type { Locator, Page } from 'playwright-core';

/** The form of a credential. Saving it tests it; it closes by itself where the test succeeds. */
export class CredentialDialog {
	constructor(private readonly page: Page) {}

	/** Waits until it is there. */
	async opened(): Promise<this> {
		await this.dialog.waitFor();
		return this;
	}

	/** Types into a field. */
	async fill(field: string, text: string): Promise<void> {
		await this.dialog.getByTestId(`parameter-input-${field}`).locator('input').fill(text);
	}

	/** Saves, and returns what the failing test says. */
	async saveAndFail(): Promise<string> {
		await this.save();
		const more = this.dialog.getByText('More details');
		await more.click();
		await more.waitFor({ state: 'hidden' });
		return await this.dialog.innerText();
	}

	/** Saves; the form closes once the test has succeeded. */
	async saveAndSucceed(): Promise<void> {
		await this.save();
		await this.dialog.waitFor({ state: 'hidden' });
	}

	/** Waits for the test that opening a saved credential starts, and returns what it says. */
	async tested(): Promise<string> {
		await this.dialog.getByText('Connection tested successfully').waitFor();
		return await this.dialog.innerText();
	}

	/** Closes it without saving. */
	async close(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.dialog.waitFor({ state: 'hidden' });
	}

	private async save(): Promise<void> {
		const tested = this.page.waitForResponse((answer) =>
			answer.url().endsWith('/credentials/test'),
		);
		await this.page.getByTestId('credential-save-button').click();
		await tested;
	}

	private get dialog(): Locator {
		return this.page.getByTestId('credential-edit-dialog');
	}
}
