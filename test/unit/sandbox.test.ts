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
