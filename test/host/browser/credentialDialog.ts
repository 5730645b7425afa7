import type { Locator, Page } from 'playwright-core';

/** The form of a credential. Saving it tests it; it closes if the test succeeds. */
export class CredentialDialog {
	constructor(private readonly page: Page) {}

	/** Waits until it is there. */
	async opened(): Promise<this> {
		await this.dialog.waitFor();
		return this;
	}

	/** Types into a field. */
	async fill(field: string, text: string): Promise<void> {
		const input = this.dialog.getByTestId(`parameter-input-${field}`).locator('input');
		await input.fill(text);
		// The editor takes a text over a moment after the last key, and a person is slower than that.
		await input.blur();
		await this.page.waitForTimeout(300);
	}

	/** Saves, and returns all that is shown once the failing test says what is expected of it. */
	async saveAndFail(expected: string): Promise<string> {
		await this.save();
		const message = this.dialog.getByText(expected);
		const more = this.dialog.getByText('More details');
		await more.or(message).first().waitFor();
		// The details stay unfolded from one failure to the next.
		if (await more.isVisible()) await more.click();
		await message.waitFor();
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
		// Escape would close the node behind it as well.
		await this.page.locator('[data-test-id="editCredential-modal"] .el-dialog__headerbtn').click();
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
