import type { Browser } from 'playwright-core';
import { hasChromium, openBrowser } from '../../../support/chromium';
import { call, create, startReceiver, useSandbox } from './support';

const held = useSandbox();
const html = async (): Promise<string> => await (await fetch(held.sandbox.pageUrl)).text();

describe('the page for people', () => {
	test('shows what to paste into the credential', async () => {
		const text = await html();
		expect(text).toContain('<title>Digital Sales sandbox</title>');
		for (const value of [held.sandbox.baseUrl, held.sandbox.apiToken, held.sandbox.bodyApiToken]) {
			expect(text).toContain(value);
		}
		expect(text).not.toMatch(/(src|href)="https?:/);
	});

	test('shows transactions newest first, offers and requests, and escapes them', async () => {
		const customer = {
			name: '<script>alert("x")</script>',
			email: 'a@b.test',
			document: '52998224725',
		};
		const old = await create(held.sandbox, { customer, amount: 123_456 });
		const young = await create(held.sandbox);
		const offers = `/products/${held.sandbox.products[0]?.hash}/offers`;
		await call(held.sandbox, 'POST', offers, { price: 115, title: 'Verão & cia' });
		const text = await html();
		expect(text.indexOf(`pay-${young}`)).toBeLessThan(text.indexOf(`pay-${old}`));
		expect(text).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
		expect(text).not.toContain('<script>alert');
		expect(text).toMatch(/R\$\s1\.234,56/);
		expect(text).toContain('Verão &amp; cia');
		expect(text).toContain(held.sandbox.transactions[0]?.pix?.pix_qr_code);
		expect(text).toContain('title="/transactions"');
		expect(held.sandbox.requests).toHaveLength(3);
	});
});

// The tests run without Chromium, too; `npm run browser` demands it.
const inBrowser = hasChromium ? describe : describe.skip;
inBrowser('the page in a browser', () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await openBrowser();
	}, 30_000);
	afterAll(async () => await browser.close());

	test('pays, sets a status and refreshes without losing what is typed', async () => {
		const receiver = await startReceiver();
		const page = await browser.newPage();
		const errors: Error[] = [];
		page.on('pageerror', (error) => errors.push(error));
		await page.goto(held.sandbox.pageUrl);
		await page.getByTestId('test-notice-url').fill(receiver.url);
		const hash = await create(held.sandbox, { webhook_url: receiver.url });
		await page.getByTestId(`pay-${hash}`).click();
		await page.getByTestId(`badge-${hash}`).getByText('paid').waitFor();
		await page.getByTestId(`deliveries-${hash}`).getByText('200').waitFor();
		await page.getByTestId(`status-select-${hash}`).selectOption('refunded');
		await page.getByTestId(`set-status-${hash}`).click();
		await page.getByTestId(`badge-${hash}`).getByText('refunded').waitFor();
		expect(await page.getByTestId(`status-select-${hash}`).inputValue()).toBe('refunded');
		expect(await page.getByTestId('test-notice-url').inputValue()).toBe(receiver.url);
		await page.getByTestId('test-notice-send').click();
		await page.getByTestId('test-notice-result').getByText('Answered 200').waitFor();
		expect(receiver.notices).toHaveLength(3);
		expect(errors).toEqual([]);
		await page.close();
		await receiver.close();
	}, 30_000);
});
