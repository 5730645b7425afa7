import { startSandbox, type Sandbox } from '../../sandbox';
import { chargeAt } from '../../helpers/charge';
import { postJson } from '../../helpers/http';
import { contact } from './contact';

// Asks the sandbox as it would ask the service: one POST at most, and a report without values.

let sandbox: Sandbox;
beforeEach(async () => {
	// Words like the name of a field.
	const tokens = { apiToken: 'test-token-of-header', bodyApiToken: 'test-token-of-body' };
	sandbox = await startSandbox({ ...tokens, qrImage: 'absent', requestsPerMinute: null });
});
afterEach(async () => await sandbox.close());

const CUSTOMER = {
	name: 'Joana Prado',
	email: 'joana.prado@correio.test',
	phone_number: '11987650001',
	document: '52998224725',
};

interface Ran {
	isComplete: boolean;
	text: string;
	pausesMs: number[];
}

interface Options {
	environment?: Record<string, string>;
	onListening?: (url: string) => void;
	noticeWithinMs?: number;
}

async function run(
	args: string[] = [],
	{ environment = {}, onListening, noticeWithinMs = 5_000 }: Options = {},
): Promise<Ran> {
	const said: string[] = [];
	const pausesMs: number[] = [];
	const isComplete = await contact({
		args,
		environment: {
			DIGITAL_SALES_BASE_URL: sandbox.baseUrl,
			DIGITAL_SALES_TOKEN: sandbox.apiToken,
			DIGITAL_SALES_SECOND_TOKEN: sandbox.bodyApiToken,
			DIGITAL_SALES_CUSTOMER: JSON.stringify(CUSTOMER),
			...environment,
		},
		say: (text) => {
			said.push(text);
			const port = /on port (\d+)/.exec(text)?.[1];
			if (port !== undefined) onListening?.(`http://127.0.0.1:${port}/hook?of=1`);
		},
		sleep: async (ms) => {
			pausesMs.push(ms);
		},
		noticeWithinMs,
	});
	return { isComplete, text: said.join('\n'), pausesMs };
}

const posts = () => sandbox.requests.filter(({ method }) => method === 'POST');

test('without an argument it only reads, and shows statuses and shapes', async () => {
	const hash = await chargeAt(sandbox);
	sandbox.requests.length = 0;

	const { isComplete, text } = await run(['--hash', hash]);

	expect(isComplete).toBe(true);
	expect(posts()).toEqual([]);
	expect(sandbox.requests.length).toBeLessThanOrEqual(15);
	expect(text).toContain('"payment_status": "a text: waiting_payment"');
	expect(text).toContain(
		'the same hash in the other case\n\n404; the package reads no transaction',
	);
	expect(text).toContain('## per_page=1\n\n200; 1 products, others');
	// The sandbox does not know this name.
	expect(text).toMatch(/## perPage=1\n\n200; 30 products/);
	expect(text).toContain('## page=2\n\n200; 30 products, others');
	expect(text).toContain('## GET without a token\n\n401');
});

test('the contact uses at most half of the limit that the service states', async () => {
	sandbox.addFault({
		kind: 'headers',
		set: { 'x-ratelimit-limit': '6', 'retry-after': '30' },
		times: 'always',
	});
	const { text, pausesMs } = await run();
	expect(new Set(pausesMs.slice(1))).toEqual(new Set([30_000]));
	expect(text).toContain('x-ratelimit-limit: 6');
});

test('a charge is for the cheapest offer, is announced, and is sent once', async () => {
	Object.assign(sandbox.products[90] ?? {}, { status: 1 });
	Object.assign(sandbox.products[90]?.offers[0] ?? {}, { price: 7, interval: null });
	sandbox.addFault({ kind: 'resetAfterProcessing', endpoint: 'POST /transactions' });

	const { text } = await run(['--charge']);

	expect(sandbox.transactions.map(({ amount }) => amount)).toEqual([7]);
	expect(text).toMatch(
		/^Sending a POST to transactions once\.\n[^]*## POST \/transactions\n\nno answer/,
	);
});

test('an offer is created once', async () => {
	const product = sandbox.products.find(({ offers }) => offers[0]?.interval !== null);
	await run(['--offer', product?.hash ?? '']);
	expect(sandbox.offers.map(({ product_hash }) => product_hash)).toEqual([product?.hash]);
});

test('the webhook of a charge is described', async () => {
	const { text } = await run(['--charge', '--listen', '0'], {
		onListening: (url) => void sandbox.notify(sandbox.transactions[0]?.hash ?? '', { url }),
	});
	expect(text).toMatch(/POST, application\/json; headers: [a-z, -]*content-type/);
	expect(text).toContain('query: of; the package reads from it: hash, status');
});

test('the report says so if no webhook comes', async () => {
	const { text } = await run(['--listen', '0'], { noticeWithinMs: 20 });
	expect(text).toContain('None came');
});

test('the report shows no personal data and no token, wherever the service repeats them', async () => {
	const planted = {
		[CUSTOMER.email]: 1,
		[CUSTOMER.name]: 1,
		'529.982.247-25': 1,
		[sandbox.apiToken]: 1,
		k3yh4shabc: { status: CUSTOMER.name },
		// Looks like the name of a field, and is a value of one.
		Joana: { status: 'Prado' },
	};
	const hash = await chargeAt(sandbox, undefined, { customer: CUSTOMER });
	sandbox.addFault({
		kind: 'patchBody',
		endpoint: 'GET /transactions/{hash}',
		set: { ...planted, payment_status: CUSTOMER.name },
		times: 'always',
	});
	sandbox.addFault({ kind: 'echoRequest', endpoint: 'POST /transactions' });

	const notice = { ...planted, hash, status: 'paid', session: sandbox.apiToken };
	const headers = { 'content-type': `application/json; of=${sandbox.apiToken}` };
	const { text } = await run(['--hash', hash, '--charge', '--listen', '0'], {
		onListening: (url) => void postJson(url, notice, headers),
	});

	expect(text).toContain('## The webhook');
	for (const secret of [
		...Object.values(CUSTOMER),
		...[sandbox.apiToken, sandbox.bodyApiToken, hash, '529.982.247-25', 'k3yh4shabc'],
		...['Joana', 'Prado'],
		...sandbox.products.slice(0, 30).flatMap((product) => [product.hash, product.title]),
	]) {
		expect(text).not.toContain(secret);
	}
});

test('the token is not sent to the address of a redirect', async () => {
	const elsewhere = await startSandbox();
	sandbox.addFault({ kind: 'redirect', to: `${elsewhere.baseUrl}/products` });
	expect((await run(['--charge'])).isComplete).toBe(false);
	await elsewhere.close();
	expect(elsewhere.requests).toEqual([]);
});

describe('refuses with one sentence, and creates nothing', () => {
	test.each<[string, string[], Record<string, string>, RegExp]>([
		['no token', [], { DIGITAL_SALES_TOKEN: ' ' }, /^DIGITAL_SALES_TOKEN is empty\.$/],
		[
			'a token in place of the Base URL',
			[],
			{ DIGITAL_SALES_BASE_URL: 'ftp://test-api-token' },
			/^DIGITAL_SALES_BASE_URL is empty/,
		],
		[
			'a token of two lines',
			[],
			{ DIGITAL_SALES_TOKEN: 'test-api-token\nx' },
			/^DIGITAL_SALES_TOKEN/,
		],
		['a wrong token', [], { DIGITAL_SALES_TOKEN: 'test-api-token-7' }, /no list of products/],
		['an unknown argument', ['--chrage'], {}, /^Usage/],
		['a hash that leads elsewhere', ['--hash', '..'], {}, /need a hash\.$/],
		['a port that is not a number', ['--listen', 'here'], {}, /port of --listen\.$/],
		['an address without http:// or https://', ['--notify', 'example.com'], {}, /^--notify needs/],
		['a wrong customer', [], { DIGITAL_SALES_CUSTOMER: 'Joana' }, /^DIGITAL_SALES_CUSTOMER/],
	])('%s', async (_what, args, environment, sentence) => {
		const { isComplete, text } = await run(['--charge', ...args], { environment });
		const last = text.startsWith('# First contact') ? text.split('\n').at(-1) : text;
		expect(last).toMatch(sentence);
		expect(text).not.toMatch(/test-(api-)?token|Joana/);
		expect(isComplete).toBe(false);
		expect(posts()).toEqual([]);
	});
});
