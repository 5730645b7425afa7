import type { Locator, Page } from 'playwright-core';
import { told } from '../../browser/newcomer';
import { PACKAGE_NAME } from '../../n8n/paths';

/** Settings > Community nodes, in the clicks of the README's first step. */
export class CommunityNodesPage {
	constructor(
		private readonly page: Page,
		private readonly url: string,
	) {}

	/** Opens it from the list of workflows. */
	async open(): Promise<void> {
		const { page } = this;
		const [settings = '', communityNodes = ''] = told('Settings > Community nodes').split(' > ');
		await page.goto(`${this.url}/home/workflows`);
		await page.getByRole('menuitem', { name: settings }).click();
		await page.getByText(communityNodes, { exact: true }).click();
		await page.waitForURL('**/settings/community-nodes');
	}

	/** Installs the package, and returns what its card says then. */
	async install(): Promise<string> {
		const { page, dialog } = this;
		const button = { name: told('Install') };
		await page.getByRole('button', button).first().click();
		await dialog.getByText(told('npm Package Name'), { exact: true }).waitFor();
		await dialog.getByRole('textbox').fill(PACKAGE_NAME);
		await dialog.getByText(told('I understand the risks')).click();
		await dialog.getByRole('button', button).click();
		await page.getByText('Package installed').waitFor();
		return await this.card.innerText();
	}

	/** Updates the package, and returns what its card says when it names `version`. */
	async update(version: string): Promise<string> {
		await this.card.getByRole('button', { name: 'Update' }).click();
		await this.dialog.getByRole('button', { name: 'Confirm update' }).click();
		await this.card.getByText(`v${version}`).waitFor();
		return await this.card.innerText();
	}

	/** Uninstalls the package. */
	async uninstall(): Promise<void> {
		await this.card.getByTestId('action-toggle').click();
		await this.page.getByRole('menuitem', { name: 'Uninstall' }).click();
		await this.dialog.getByRole('button', { name: 'Confirm uninstall' }).click();
		await this.card.waitFor({ state: 'hidden' });
	}

	private get dialog(): Locator {
		return this.page.getByRole('dialog');
	}

	private get card(): Locator {
		return this.page.getByTestId('community-package-card').filter({ hasText: PACKAGE_NAME });
	}
}
