import get from 'lodash/get';
import { startSandbox, type Sandbox } from '../sandbox';
import { chargeAt } from '../helpers/charge';
import { type HttpAnswer, sendRequest } from '../helpers/http';
import { useTimeLapse } from '../helpers/timeLapse';

// Parts of the API document that no test of the package needs.

const words = (text: string): string[] => text.split(' ').sort();
const fieldsOf = (body: unknown): string[] => Object.keys(body as object).sort();

const COMMON_FIELDS =
	'affiliate amount amount_liquid billet created_at customer event hash installments items offer payment_method payment_status pix postback_url producer product transaction updated_at utm_campaign utm_content utm_medium utm_source utm_term';

useTimeLapse();
let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await startSandbox();
});
beforeEach(() => sandbox.reset());
afterAll(async () => await sandbox.close());

async function read(path: string): Promise<HttpAnswer> {
	const headers = { authorization: `Bearer ${sandbox.apiToken}` };
	return await sendRequest(sandbox.baseUrl + path, { method: 'GET', headers });
}

test('products come in pages of the documented shape, of 30 by default', async () => {
	const { status, json } = await read('/products?page=2');
	const path = `${sandbox.baseUrl}/products`;
	const page = (number: number): string => `${path}?page=${number}`;

	expect(status).toBe(200);
	expect(get(json, 'links')).toEqual({
		first: page(1),
		last: page(5),
		prev: page(1),
		next: page(3),
	});
	expect(get(json, 'meta')).toEqual({
		current_page: 2,
		from: 31,
		last_page: 5,
		links: [
			{ url: page(1), label: 'pagination.previous', active: false },
			...[1, 2, 3, 4, 5].map((number) => ({
				url: page(number),
				label: String(number),
				active: number === 2,
			})),
			{ url: page(3), label: 'pagination.next', active: false },
		],
		path,
		per_page: 30,
		to: 60,
		total: 137,
	});
	expect(fieldsOf(get(json, 'data.0'))).toEqual(
		words(
			'hash title description cover id_category product_type guaranted_days sale_page offers status support_name support_email support_whatsapp',
		),
	);
	expect(fieldsOf(get(json, 'data.0.offers.0'))).toEqual(
		words('hash title price url status interval created_at updated_at'),
	);
});

test('a transaction has the fields of the POST shape, then those of the GET shape', async () => {
	const hash = await chargeAt(sandbox);
	const { json: made } = await sendRequest(`${sandbox.baseUrl}/transactions`, {
		headers: {
			authorization: `Bearer ${sandbox.apiToken}`,
			'content-type': 'application/json',
		},
		body: JSON.stringify(sandbox.requests[0]?.body),
	});
	const { json: seen } = await read(`/transactions/${hash}`);

	expect(fieldsOf(made)).toEqual(words(`${COMMON_FIELDS} tracking_code`));
	expect(fieldsOf(get(made, 'producer'))).toEqual(['name']);
	expect(fieldsOf(seen)).toEqual(words(`${COMMON_FIELDS} balance split_recipients`));
	expect(fieldsOf(get(seen, 'producer'))).toEqual(words('hash name email'));
	expect(seen).toMatchObject({
		event: 'transaction',
		amount: 1990,
		amount_liquid: 1791,
		billet: null,
		affiliate: null,
		transaction: expect.any(String) as unknown,
		product: { status: 'active' },
		items: [{ product_id: 1001, operation_type: 1 }],
		created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as unknown,
		balance: { amount: 1791, status: 'available' },
		split_recipients: [
			{ recipient_type: 'producer', amount: '1791' },
			{ recipient_type: 'platform', amount: '199' },
		],
	});
});

test.each<[string, object, string]>([
	['an amount as a text', { amount: '1990' }, 'amount field is invalid'],
	['an unknown offer', { cart: [{ offer_hash: 'nothing' }] }, 'cart.0.offer_hash field is invalid'],
	['no customer', { customer: undefined }, 'customer field is required'],
	['a wrong body token', { api_token: 'test-wrong-token' }, 'Invalid api_token'],
])('refuses %s in the documented shape, and charges nothing', async (_what, changes, error) => {
	const shape = new RegExp(`{"success":false,"message":"[^"]+","errors":\\["[^"]*${error}\\."`);
	await expect(chargeAt(sandbox, undefined, changes)).rejects.toThrow(shape);
	expect(sandbox.charges()).toBe(0);
});

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
