import type { Locator, Page } from 'playwright-core';
import { CredentialDialog } from './credentialDialog';

const OUTPUT_WITHIN_MS = 20_000;

/** An open node: its form in the middle, what it puts out on the right. */
export class NodeView {
	constructor(private readonly page: Page) {}

	/** Waits until it is there. */
	async opened(): Promise<this> {
		await this.page.getByTestId('ndv').waitFor();
		await this.page.getByTestId('node-parameters').waitFor();
		return this;
	}

	/** Closes the node. */
	async close(): Promise<void> {
		await this.page.getByTestId('ndv-close-button').click();
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	/** Opens the form of a new credential. */
	async newCredential(): Promise<CredentialDialog> {
		await this.page.getByTestId('node-credentials-empty-state').getByRole('button').click();
		return await new CredentialDialog(this.page).opened();
	}

	/** Opens the form of the chosen credential. */
	async editCredential(): Promise<CredentialDialog> {
		await this.page.getByTestId('credential-edit-button').click();
		return await new CredentialDialog(this.page).opened();
	}

	/** Types into a field. */
	async fill(field: string, text: string): Promise<void> {
		const input = this.field(field).locator('input, textarea').first();
		await input.fill(text);
		// The editor takes a text over a moment after the last key, and a person is slower than that.
		await input.blur();
		await this.page.waitForTimeout(300);
	}

	/** Clicks into a field. */
	async click(field: string): Promise<void> {
		await this.field(field).locator('input, textarea').first().click();
	}

	/** What an expression field holds. */
	async valueOf(field: string): Promise<string> {
		return (await this.field(field).locator('.cm-content').first().innerText()).trim();
	}

	/** Chooses from a list of fixed choices. */
	async choose(field: string, choice: string): Promise<void> {
		await this.field(field).click();
		await this.shownChoice(choice).click();
	}

	/** Adds an entry to a collection such as the cart. */
	async addEntry(button: string): Promise<void> {
		await this.page.getByTestId('node-parameters').getByText(button, { exact: true }).click();
	}

	/** Adds an option to the collection Options. */
	async addOption(name: string): Promise<void> {
		await this.page.getByTestId('node-parameters').getByPlaceholder('Add Option').last().click();
		await this.shownChoice(name).click();
	}

	/** Chooses one more from a list of several, and closes the list. */
	async chooseMore(field: string, choice: string): Promise<void> {
		await this.choose(field, choice);
		await this.page.getByTestId('output-panel').click({ position: { x: 8, y: 8 } });
		await this.shownChoice(choice).waitFor({ state: 'hidden' });
	}

	/** Opens the list of a resource locator. */
	async openList(field: string): Promise<void> {
		await this.page.getByTestId(`resource-locator-${field}`).getByTestId('rlc-input').click();
		await this.entries.first().waitFor();
	}

	/** Takes the first entry of the open list. */
	async pickFirst(): Promise<void> {
		await this.entries.first().click();
	}

	/** Waits until an entry of a collection has this name above it, and returns the name. */
	async entryTitled(name: string): Promise<string> {
		const form = this.page.getByTestId('node-parameters');
		return await form.getByText(name, { exact: true }).innerText();
	}

	/** Opens the list of a resource locator, searches it, and returns what it shows. */
	async search(field: string, text: string): Promise<string[]> {
		await this.page.getByTestId(`resource-locator-${field}`).getByTestId('rlc-input').click();
		await this.entries.first().waitFor();
		const found = this.page.waitForResponse(
			(answer) =>
				answer.url().endsWith('/resource-locator-results') &&
				(answer.request().postData() ?? '').includes(text),
		);
		await this.within('rlc-search').fill(text);
		await found;
		await this.entries.first().waitFor();
		return await this.entries.allInnerTexts();
	}

	/** Opens the list of a resource locator, and returns why there is nothing in it. */
	async listFailure(field: string): Promise<string> {
		await this.page.getByTestId(`resource-locator-${field}`).getByTestId('rlc-input').click();
		const failure = this.page.getByTestId('rlc-error-container').locator('visible=true');
		await failure.waitFor();
		return await failure.innerText();
	}

	/** Takes an entry of the open list. */
	async pick(text: string): Promise<void> {
		await this.entries.filter({ hasText: text }).first().click();
	}

	/** What is chosen in a resource locator. */
	async picked(field: string): Promise<string> {
		const locator = this.page.getByTestId(`resource-locator-${field}`);
		return await this.within('rlc-input', locator).inputValue();
	}

	/** Runs the node and returns the output panel once it shows all that is expected. */
	async execute(...expected: string[]): Promise<string> {
		await this.page.getByTestId('node-execute-button').click();
		return await this.output(...expected);
	}

	/** Runs the node, which does not start, and waits until the editor says why in a corner. */
	async refused(why: string): Promise<void> {
		await this.page.getByTestId('node-execute-button').click();
		const notes = this.page.locator('.el-notification');
		await notes
			.filter({ hasText: why })
			.waitFor({ state: 'attached' })
			.catch(async () => {
				throw new Error(`The editor says "${(await notes.allTextContents()).join('", "')}"`);
			});
	}

	/** What the output panel shows, as a table or an error, once all that is expected is in it. */
	async output(...expected: string[]): Promise<string> {
		const panel = this.page.getByTestId('output-panel');
		const table = panel.locator(
			'[data-test-id="radio-button-table"][aria-checked="false"]:visible',
		);
		const deadline = Date.now() + OUTPUT_WITHIN_MS;
		for (;;) {
			// An output with files opens with these in view. The button goes away when a new run begins.
			if ((await table.count()) > 0) await table.click({ timeout: 500 }).catch(() => {});
			const shown = await panel.innerText();
			const missing = expected.filter((text) => !shown.includes(text));
			if (missing.length === 0) return shown;
			if (Date.now() > deadline) {
				throw new Error(`The output does not show "${missing.join('", "')}" but:\n${shown}`);
			}
			await this.page.waitForTimeout(200);
		}
	}

	/** Shows the output in one of the editor's ways. */
	async view(way: 'schema' | 'table' | 'json'): Promise<void> {
		await this.page.getByTestId('output-panel').getByTestId(`radio-button-${way}`).click();
	}

	/** Shows a field of the output as text. */
	async viewField(name: string): Promise<void> {
		await this.view('json');
		const field = this.page.getByTestId('output-panel').getByText(name).first();
		await field.scrollIntoViewIfNeeded();
	}

	/** Shows the picture among the output's files. */
	async viewPicture(): Promise<void> {
		const panel = this.page.getByTestId('output-panel');
		await panel.getByTestId('radio-button-binary').click();
		await panel.getByTestId('ndv-view-binary-data').click();
		await panel.locator('img[src*="/rest/binary-data"], img[src^="data:image"]').first().waitFor();
	}

	/** Unfolds the addresses of a trigger, and returns the one for tests. */
	async testUrl(): Promise<string> {
		await this.page.getByText('Webhook URLs', { exact: true }).click();
		return (await this.page.locator('.webhook-url').first().innerText()).trim();
	}

	/** Unfolds the addresses of a trigger, and returns the one for production. */
	async productionUrl(): Promise<string> {
		await this.page.getByText('Webhook URLs', { exact: true }).click();
		await this.page.getByText('Production URL', { exact: true }).click();
		return (await this.page.locator('.webhook-url').first().innerText()).trim();
	}

	/** Unfolds the help of a trigger, and returns it. */
	async triggerHelp(): Promise<string> {
		const head = this.page.getByText('When will this node trigger my flow?');
		await head.click();
		return await head.locator('xpath=../..').innerText();
	}

	/** Has a trigger wait for one event. */
	async listen(): Promise<void> {
		await this.page.getByTestId('trigger-execute-button').click();
		await this.page.getByTestId('trigger-listening').waitFor();
	}

	// The editor marks now the text field itself, now what surrounds it.
	private within(testId: string, inside: Locator | Page = this.page): Locator {
		return inside
			.locator(`[data-test-id="${testId}"] input, input[data-test-id="${testId}"]`)
			.first();
	}

	private field(name: string): Locator {
		return this.page.getByTestId('ndv').getByTestId(`parameter-input-${name}`);
	}

	private shownChoice(name: string): Locator {
		const choices = this.page.locator('.el-select-dropdown__item:visible');
		return choices.getByText(name, { exact: true });
	}

	private get entries(): Locator {
		return this.page.getByTestId('rlc-item').locator('visible=true');
	}
}
