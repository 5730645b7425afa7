import type { Page } from 'playwright-core';

/** Reading takes about this long. */
const MS_A_CHARACTER = 45;
const LEAST_MS = 2_000;

/** A line of text at the bottom, and the pointer, which a browser without a window does not draw. */
const OVERLAY = `
addEventListener('DOMContentLoaded', () => {
	const add = (style) => {
		const element = document.createElement('div');
		element.style.cssText = 'position:fixed;z-index:2147483647;pointer-events:none;' + style;
		document.documentElement.append(element);
		return element;
	};
	const caption = add('left:0;right:0;bottom:10px;margin:auto;width:fit-content;max-width:90%;padding:8px 20px;border-radius:8px;background:#101828ee;color:#fff;font:600 19px/1.3 system-ui,sans-serif;text-align:center;display:none');
	const pointer = add('width:22px;height:22px;margin:-11px 0 0 -11px;border-radius:50%;background:#ff6d5a99;border:2px solid #ff6d5a;box-sizing:border-box;transition:left .2s,top .2s;left:640px;top:760px');
	window.showCaption = (text) => {
		caption.textContent = text;
		caption.style.display = text === '' ? 'none' : 'block';
	};
	addEventListener('mousemove', ({ clientX, clientY }) => {
		pointer.style.left = clientX + 'px';
		pointer.style.top = clientY + 'px';
	}, true);
	addEventListener('mousedown', () => {
		pointer.animate([{ transform: 'scale(2)' }, { transform: 'scale(1)' }], 350);
	}, true);
});`;

/** What the film says while it shows something. */
export class Captions {
	private text = '';

	/** Prepares a page before it is opened. */
	async on(page: Page): Promise<void> {
		await page.addInitScript(OVERLAY);
		page.on('domcontentloaded', () => void this.show(page).catch(() => {}));
	}

	/** Says something on a page until it can have been read, and what it speaks of is done. */
	async say(page: Page, text: string, work = async (): Promise<void> => {}): Promise<void> {
		this.text = text;
		await this.show(page);
		await page.waitForTimeout(Math.max(LEAST_MS, text.length * MS_A_CHARACTER));
		await work();
		this.text = '';
		await this.show(page);
	}

	private async show(page: Page): Promise<void> {
		await page.evaluate(`showCaption(${JSON.stringify(this.text)})`);
	}
}
