import { startSandbox, type Sandbox } from '../sandbox';
import { chargeAt } from '../helpers/charge';
import { type HttpAnswer, sendRequest } from '../helpers/http';
import { useTimeLapse } from '../helpers/timeLapse';

useTimeLapse();
let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox();
});
beforeEach(() => sandbox.reset());
afterAll(async () => await sandbox.close());

test('the page shows what a person needs, pays, and sends a test notice', async () => {
	const hash = await chargeAt(sandbox);
	const open = async (path = ''): Promise<HttpAnswer> =>
		await sendRequest(sandbox.pageUrl + path, { method: 'GET' });
	const press = async (path: string, body: string): Promise<string | undefined> =>
		(await sendRequest(`${sandbox.pageUrl}sandbox/${path}`, { body })).headers.location;

	const { text } = await open();
	for (const shown of [sandbox.baseUrl, sandbox.apiToken, sandbox.bodyApiToken, hash]) {
		expect(text).toContain(shown);
	}
	expect((await open(`sandbox/qr/${hash}.png`)).headers['content-type']).toBe('image/png');
	await press(`status/${hash}`, 'pay=paid&status=expired');
	expect(sandbox.transactions[0]?.payment_status).toBe('paid');
	await press(`status/${hash}`, 'status=refunded');
	expect((await open()).text).toContain(`data-testid="badge-${hash}">refunded<`);
	const url = encodeURIComponent(`${sandbox.baseUrl}/nowhere`);
	expect(await press('test-notice', `url=${url}&shape=summary`)).toContain('answer=Answered+404');
});

test('a person lets the answer to the next charge get lost on the page, and the charge is made', async () => {
	const page = (): Promise<HttpAnswer> => sendRequest(sandbox.pageUrl, { method: 'GET' });
	const body = 'next=answer+lost+after+it+was+made';
	const headers = { 'content-type': 'application/x-www-form-urlencoded' };
	await sendRequest(`${sandbox.pageUrl}sandbox/next-charge`, { method: 'POST', headers, body });
	expect((await page()).text).toContain('<option selected>answer lost after it was made</option>');

	await expect(chargeAt(sandbox)).rejects.toThrow();

	expect(sandbox.charges()).toBe(1);
	expect((await page()).text).not.toContain('selected');
	await chargeAt(sandbox);
	expect(sandbox.charges()).toBe(2);
});
