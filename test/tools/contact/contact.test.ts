import { chargeAt } from '../../helpers/charge';
import { startSandbox, type Sandbox } from '../../sandbox';
import { contact, CUSTOMER, type Settings } from './contact';

// Asks the sandbox as it would ask the platform.

let sandbox: Sandbox;
beforeEach(async () => {
	sandbox = await startSandbox({ qrImage: 'absent', requestsPerMinute: null });
});
afterEach(async () => await sandbox.close());

async function report(options: Partial<Settings> = {}): Promise<string> {
	const said: string[] = [];
	await contact({
		baseUrl: sandbox.baseUrl,
		token: sandbox.apiToken,
		secondToken: sandbox.bodyApiToken,
		customer: CUSTOMER,
		hashes: [],
		charge: false,
		say: (text) => void said.push(text),
		apartMs: 0,
		...options,
	});
	return said.join('\n');
}

test('without an option it only reads, and shows statuses and shapes', async () => {
	const hash = await chargeAt(sandbox);
	sandbox.requests.length = 0;

	const text = await report({ hashes: [hash] });

	expect(sandbox.requests.filter(({ method }) => method === 'POST')).toEqual([]);
	expect(text).toContain('"payment_status":"text: waiting_payment"');
	expect(text).toContain('the same hash in the other case\n404; no transaction');
	expect(text).toContain('## per_page=1\n200; 1 products, the same first');
	expect(text).toContain('## without a token\n401');
});

test('a charge is announced, is for the cheapest offer, and is sent once', async () => {
	Object.assign(sandbox.products[90] ?? {}, { status: 1 });
	Object.assign(sandbox.products[90]?.offers[0] ?? {}, { price: 7, interval: null });
	sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

	const text = await report({ charge: true });

	expect(sandbox.transactions.map(({ amount }) => amount)).toEqual([7]);
	expect(text).toMatch(/Sending a POST \/transactions once\.\n## POST \/transactions\nno answer/);
});

test('the report shows no personal data and no token, wherever the platform repeats them', async () => {
	const hash = await chargeAt(sandbox, undefined, { customer: CUSTOMER });
	sandbox.addFault({
		kind: 'patchBody',
		endpoint: 'GET /transactions/{hash}',
		set: {
			[CUSTOMER.email]: 1,
			[sandbox.apiToken]: 1,
			Maria: { status: 'Exemplo' },
			status: CUSTOMER.email,
		},
		times: 'always',
	});
	sandbox.addFault({ kind: 'echoRequest', endpoint: 'POST /transactions' });

	const text = await report({ hashes: [hash], charge: true });

	const { apiToken, bodyApiToken, products } = sandbox;
	const titles = products.slice(0, 30).map(({ title }) => title);
	const people = [...Object.values(CUSTOMER), 'Maria', 'Exemplo'];
	const secrets = [...people, hash, apiToken, bodyApiToken, ...titles];
	expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

test('the token is not sent to the address of a redirect', async () => {
	const elsewhere = await startSandbox();
	sandbox.addFault({ kind: 'redirect', to: `${elsewhere.baseUrl}/products` });
	await expect(report()).rejects.toThrow('no list of products');
	await elsewhere.close();
	expect(elsewhere.requests).toEqual([]);
});
