import type { Locator, Page } from 'playwright-core';
import type { Login } from '../n8n/rest';
import type { Area } from './pictures';

/** The editor saves the text only after a moment. */
async function fillIn(page: Page, input: Locator, text: string): Promise<void> {
	await input.fill(text);
	await input.blur();
	await page.waitForTimeout(300);
}

/** Moves the mouse to the middle of an element as a hand does, in steps. */
async function moveTo(page: Page, element: Locator): Promise<void> {
	await element.scrollIntoViewIfNeeded();
	const box = await element.boundingBox();
	if (!box) throw new Error('The element is not in view');
	await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 10 });
}

/** Saving tests the credential. The dialog closes if the test succeeds. */
export class CredentialDialog {
	constructor(private readonly page: Page) {}

	async opened(): Promise<this> {
		await this.dialog.waitFor();
		return this;
	}

	async fill(field: string, text: string): Promise<void> {
		const input = this.dialog.getByTestId(`parameter-input-${field}`).locator('input');
		await fillIn(this.page, input, text);
	}

	async turnOn(field: string): Promise<void> {
		await this.dialog.getByTestId(`parameter-input-${field}`).locator('.el-switch').click();
	}

	/** Returns the text of the dialog. */
	async saveAndFail(expected: string): Promise<string> {
		await this.save();
		const message = this.dialog.getByText(expected);
		const more = this.dialog.getByText('More details');
		await more.or(message).first().waitFor();
		// After one failure, the details stay open for the next.
		if (await more.isVisible()) await more.click();
		await message.waitFor();
		return await this.dialog.innerText();
	}

	async saveAndSucceed(): Promise<void> {
		await this.save();
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

const OUTPUT_WITHIN_MS = 20_000;

/** The form is in the middle, the output on the right. */
export class NodeView {
	constructor(private readonly page: Page) {}

	async opened(): Promise<this> {
		await this.page.getByTestId('ndv').waitFor();
		await this.page.getByTestId('node-parameters').waitFor();
		return this;
	}

	async close(): Promise<void> {
		await this.page.getByTestId('ndv-close-button').click();
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	async closeByKey(): Promise<void> {
		await this.page.keyboard.press('Escape');
		await this.page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	async newCredential(): Promise<CredentialDialog> {
		await this.page.getByTestId('node-credentials-empty-state').getByRole('button').click();
		return await new CredentialDialog(this.page).opened();
	}

	async fill(field: string, text: string): Promise<void> {
		await fillIn(this.page, this.input(field), text);
	}

	/** Clicks into the field and presses the keys. */
	async type(field: string, text: string): Promise<void> {
		await this.input(field).click();
		await this.page.keyboard.type(text);
		await this.page.waitForTimeout(300);
	}

	async valueOf(field: string): Promise<string> {
		return (await this.field(field).locator('.cm-content').first().innerText()).trim();
	}

	async openList(field: string): Promise<void> {
		await this.locator(field).getByTestId('rlc-input').click();
		await this.entries.first().waitFor();
	}

	/** Returns the entries of a resource locator that match. */
	async search(field: string, text: string): Promise<string[]> {
		await this.openList(field);
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

	/** Picks the first entry with this text from the open list. */
	async pick(text = ''): Promise<void> {
		await this.entries.filter({ hasText: text }).first().click();
	}

	async picked(field: string): Promise<string> {
		return await this.within('rlc-input', this.locator(field)).inputValue();
	}

	/** Returns the text of the output panel once it has all expected texts. */
	async execute(...expected: string[]): Promise<string> {
		await this.page.getByTestId('node-execute-button').click();
		return await this.output(...expected);
	}

	/** Returns the text of the output panel once it has all expected texts. */
	async output(...expected: string[]): Promise<string> {
		const panel = this.page.getByTestId('output-panel');
		const table = panel.locator(
			'[data-test-id="radio-button-table"][aria-checked="false"]:visible',
		);
		const deadline = Date.now() + OUTPUT_WITHIN_MS;
		for (;;) {
			// n8n shows the files of an output first. The button disappears when a new run begins.
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

	async view(way: 'schema' | 'table' | 'json'): Promise<void> {
		await this.page.getByTestId('output-panel').getByTestId(`radio-button-${way}`).click();
	}

	async viewPicture(): Promise<void> {
		await this.page.getByTestId('output-panel').getByTestId('radio-button-binary').click();
		await this.enlargePicture();
	}

	/** The output shows its picture: n8n opens a node that way. */
	async enlargePicture(): Promise<void> {
		const panel = this.page.getByTestId('output-panel');
		await panel.getByTestId('ndv-view-binary-data').click();
		await panel.locator('img[src*="/rest/binary-data"], img[src^="data:image"]').first().waitFor();
	}

	async url(kind: 'test' | 'production'): Promise<string> {
		await this.page.getByText('Webhook URLs', { exact: true }).click();
		if (kind === 'production') await this.page.getByText('Production URL', { exact: true }).click();
		// Playwright throws if the page shows several.
		return (await this.page.locator('.webhook-url').innerText()).trim();
	}

	async listen(): Promise<void> {
		await this.page.getByTestId('trigger-execute-button').click();
		await this.page.getByTestId('trigger-listening').waitFor();
	}

	// The id is sometimes on the text field, and sometimes on an element around it.
	private within(testId: string, inside: Locator | Page = this.page): Locator {
		return inside
			.locator(`[data-test-id="${testId}"] input, input[data-test-id="${testId}"]`)
			.first();
	}

	private input(field: string): Locator {
		return this.field(field).locator('input, textarea').first();
	}

	private field(name: string): Locator {
		return this.page.getByTestId('ndv').getByTestId(`parameter-input-${name}`);
	}

	private locator(field: string): Locator {
		return this.page.getByTestId(`resource-locator-${field}`);
	}

	private get entries(): Locator {
		return this.page.getByTestId('rlc-item').locator('visible=true');
	}
}

const ROOM = 24;

/** The steps of a person in n8n's editor. */
export class Editor {
	constructor(
		readonly page: Page,
		private readonly url: string,
	) {}

	async open({ email, password }: Login): Promise<void> {
		const { page } = this;
		await page.goto(`${this.url}/signin`);
		await page.locator('input[name="emailOrLdapLoginId"]').fill(email);
		await page.locator('input[type="password"]').fill(password);
		await page.getByTestId('form-submit-button').click();
		await page.waitForURL((address) => !address.pathname.startsWith('/signin'));
		await this.openNew();
	}

	async openNew(): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`);
		await this.page.getByTestId('canvas-plus-button').waitFor();
	}

	/** `button` is the text under the button that opens the node panel. */
	async searchFirstStep(button: string, word: string): Promise<void> {
		await this.page.getByTestId('canvas-add-button').filter({ hasText: button }).waitFor();
		await this.page.getByTestId('canvas-plus-button').click();
		await this.searchField.fill(word);
		await this.entry.waitFor();
	}

	async importFile(menu: string, choice: string, file: string): Promise<void> {
		const { page } = this;
		await page.getByTestId('workflow-menu').click();
		await page.getByRole('menuitem', { name: menu }).hover();
		const chooser = page.waitForEvent('filechooser');
		await page.getByRole('menuitem', { name: choice }).click();
		await (await chooser).setFiles(file);
		await page.getByTestId('canvas-node').first().waitFor();
	}

	/** The whole workflow is in view. */
	async openWorkflow(id: string): Promise<void> {
		const { page } = this;
		await page.goto(`${this.url}/workflow/${id}`);
		await page.getByTestId('canvas-node').first().waitFor();
		await page.getByTestId('zoom-to-fit').click();
		await page.waitForTimeout(1_000);
	}

	/**
	 * The area of the workflow on the page, with a margin.
	 *
	 * @throws Error if a part of the workflow is not in view
	 */
	async workflowArea(): Promise<Area> {
		const [pane] = await this.boxesOf('.vue-flow__pane');
		// A name and what follows it go on beside and below their node.
		const parts = await this.boxesOf(
			'.vue-flow__node, .vue-flow__node [class*="_description_"], .vue-flow__edge-path',
		);
		if (!pane || parts.length === 0) throw new Error('The editor shows no workflow');
		const left = Math.min(...parts.map(({ x }) => x));
		const top = Math.min(...parts.map(({ y }) => y));
		const right = Math.max(...parts.map(({ x, width }) => x + width));
		const bottom = Math.max(...parts.map(({ y, height }) => y + height));
		const [paneRight, paneBottom] = [pane.x + pane.width, pane.y + pane.height];
		if (left < pane.x || top < pane.y || right > paneRight || bottom > paneBottom) {
			throw new Error('A part of the workflow is out of view');
		}
		const [x, y] = [Math.max(pane.x, left - ROOM), Math.max(pane.y, top - ROOM)];
		return {
			x,
			y,
			width: Math.min(right + ROOM, paneRight) - x,
			height: Math.min(bottom + ROOM, paneBottom) - y,
		};
	}

	private async boxesOf(selector: string): Promise<Area[]> {
		const elements = await this.page.locator(selector).all();
		const boxes = await Promise.all(elements.map(async (element) => await element.boundingBox()));
		return boxes.filter((box) => box !== null);
	}

	/** Names the nodes that the editor marks because a field must be filled in. */
	async nodesWithIssues(): Promise<string[]> {
		const marks = this.page.getByTestId('node-issues');
		const marked = this.page
			.getByTestId('canvas-node')
			.filter({ has: marks.or(this.page.getByTestId('node-setup-required')) });
		return await marked.evaluateAll((nodes) =>
			nodes.map((node) => node.getAttribute('data-node-name') ?? ''),
		);
	}

	/** Returns the names that the node panel finds. */
	async search(word: string): Promise<string[]> {
		const { page } = this;
		if (!(await this.panel.isVisible())) await page.getByTestId('canvas-plus-button').click();
		await this.searchField.fill(word);
		const names = this.panel.getByTestId('node-creator-item-name');
		// The list shows the earlier entries for a moment longer.
		await names.getByText('Trigger manually').waitFor({ state: 'hidden' });
		await names.or(this.panel.getByTestId('node-creator-no-results')).first().waitFor();
		return await names.allInnerTexts();
	}

	/** The actions of an entry are folded. */
	async openActions(entry: string, actions: string): Promise<void> {
		await this.openNamed(entry);
		await this.categories.filter({ hasText: actions }).click();
	}

	/** Without `after`, the node panel already shows the actions of the package. */
	async addAction(action: string, after?: string): Promise<NodeView> {
		if (after !== undefined) {
			await this.node(after).getByTestId('canvas-handle-plus').last().click();
			await this.searchField.fill('pix');
			await this.openNamed('Digital Sales');
		}
		return await this.add('Actions', action);
	}

	/** Drags from an output to the input of another node. */
	async connect(from: string, output: string, to: string): Promise<void> {
		const { page } = this;
		const label = page.getByText(output, { exact: true });
		const outputs = this.node(from).getByTestId('canvas-node-output-handle');
		await moveTo(page, outputs.filter({ has: label }));
		await page.mouse.down();
		await moveTo(page, this.node(to).getByTestId('canvas-node-input-handle'));
		await page.mouse.up();
		// The editor saves a moment later.
		await page.waitForTimeout(1_000);
	}

	async addTriggerOf(entry: string, trigger: string): Promise<NodeView> {
		await this.openNamed(entry);
		return await this.add('Triggers', trigger);
	}

	/** No node precedes the trigger. */
	async addTrigger(trigger: string): Promise<NodeView> {
		await this.page.getByTestId('node-creator-plus-button').click();
		await this.searchField.fill('pix');
		return await this.addTriggerOf('Digital Sales', trigger);
	}

	private async openNamed(entry: string): Promise<void> {
		await this.panel.getByTestId('node-creator-item-name').getByText(entry).click();
		await this.categories.first().waitFor();
	}

	private async add(category: string, name: string): Promise<NodeView> {
		const choice = this.panel.getByText(name, { exact: true });
		if (!(await choice.isVisible())) await this.unfold(category);
		await choice.click();
		return await new NodeView(this.page).opened();
	}

	async openNode(name: string): Promise<NodeView> {
		const body = this.node(name)
			.getByTestId('canvas-default-node')
			.or(this.node(name).getByTestId('canvas-trigger-node'))
			.or(this.node(name).getByTestId('canvas-configuration-node'));
		await body.dblclick();
		return await new NodeView(this.page).opened();
	}

	/** All nodes are in view afterwards. */
	async tidyUp(): Promise<void> {
		await this.page.getByTestId('tidy-up-button').click();
		await this.page.waitForTimeout(1_000);
	}

	/** Returns the message of n8n. */
	async publish(button = 'Publish'): Promise<string> {
		const { page } = this;
		await page.getByTestId('workflow-open-publish-modal-button').getByText(button).click();
		await page.getByTestId('workflow-publish-button').click();
		const message = page.getByTestId('activation-modal');
		await message.waitFor();
		return await message.innerText();
	}

	/** False while a required field is empty. */
	async mayPublish(): Promise<boolean> {
		return await this.page.getByTestId('workflow-open-publish-modal-button').isEnabled();
	}

	/** Also closes the advice that n8n shows a moment later. */
	async gotIt(): Promise<void> {
		await this.page.getByRole('button', { name: 'Got it' }).click();
		const advice = this.page.getByText('Production Checklist');
		await this.page.addLocatorHandler(advice, async () => {
			await this.page.keyboard.press('Escape');
		});
	}

	async executeAll(button: string): Promise<void> {
		await this.page.getByTestId('execute-workflow-button').getByText(button).click();
	}

	async succeeded(name: string, timeout?: number): Promise<void> {
		await this.node(name).getByTestId('canvas-node-status-success').waitFor({ timeout });
	}

	/** Opens the node in the newest execution that no person started. */
	async openNewestExecution(node: string): Promise<NodeView> {
		const { page } = this;
		await page.getByTestId('radio-button-executions').click();
		const list = page.getByTestId('current-executions-list');
		const newest = list.locator('[data-test-id^="execution-details-"]').first();
		await newest.getByText('Succeeded').waitFor();
		await newest.click();
		await this.node(node).getByTestId('canvas-node-status-success').waitFor();
		return await this.openNode(node);
	}

	private get panel(): Locator {
		return this.page.getByTestId('node-creator');
	}

	private get searchField(): Locator {
		return this.page.getByTestId('node-creator-search-bar');
	}

	private get entry(): Locator {
		return this.panel.getByTestId('node-creator-item-name').getByText('Digital Sales');
	}

	private get categories(): Locator {
		return this.panel.getByTestId('node-creator-category-item');
	}

	private node(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name^="${name}"]`);
	}

	private async unfold(category: string): Promise<void> {
		const head = this.categories.filter({ hasText: new RegExp(`^${category}`) });
		await head.waitFor();
		const entries = await this.panel.getByTestId('node-creator-item-name').count();
		await head.click();
		await this.page.waitForTimeout(300);
		// A click folds a category that is open.
		if ((await this.panel.getByTestId('node-creator-item-name').count()) < entries) {
			await head.click();
		}
	}
}
