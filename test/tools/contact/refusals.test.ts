import { createServer } from 'node:http';
import { meetServer, methods, run, TOKEN, useSandbox } from './support';

describe('one sentence and an exit code of its own', () => {
	const held = useSandbox();

	async function expectRefusal(
		[exit, sentence]: [number, RegExp],
		baseUrl: string,
		args: string[] = ['--charge'],
		environment: Record<string, string | undefined> = {},
	): Promise<void> {
		const refused = await run(baseUrl, args, { environment });
		expect(refused.text).toMatch(sentence);
		expect(refused.text).not.toContain('\n');
		expect(refused.text).not.toMatch(/test-(api|body)-token/);
		expect(refused.exit).toBe(exit);
		expect(methods(held.sandbox.requests)).not.toContain('POST');
	}

	test('without a token', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_TOKEN is empty\.$/], held.sandbox.baseUrl, [], {
			DIGITAL_SALES_TOKEN: ' ',
		});
		expect(held.sandbox.requests).toEqual([]);
	});

	test('without an address, or with the token in its place', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_BASE_URL is empty or not/], '');
		await expectRefusal([2, /^DIGITAL_SALES_BASE_URL is empty or not/], `ftp://${TOKEN}`);
	});

	test.each([
		[['--chrage'], /^An argument is unknown/],
		[['--hash', '..'], /^--hash and --offer need a hash\.$/],
		[['--listen', 'here'], /^--listen needs a port/],
		[['--notify', 'example.com', '--charge'], /^--notify must start with http/],
		[['--notify', 'https://example.com'], /^--notify needs --charge\.$/],
	])('with the arguments %j', async (args, sentence) => {
		await expectRefusal([2, sentence], held.sandbox.baseUrl, args);
	});

	test('with a token that no header can carry', async () => {
		await expectRefusal([2, /^DIGITAL_SALES_TOKEN has characters/], held.sandbox.baseUrl, [], {
			DIGITAL_SALES_TOKEN: `${TOKEN}\n${TOKEN}`,
		});
	});

	test('with a wrong token', async () => {
		await expectRefusal(
			[3, /^The service does not accept DIGITAL_SALES_TOKEN \(401\)/],
			held.sandbox.baseUrl,
			['--charge'],
			{ DIGITAL_SALES_TOKEN: 'test-wrong-token-777' },
		);
	});

	test.each(['/api/public/v2', '/', '/wrong/path', '/api/public/v1/more'])(
		'under the path %s',
		async (wrong) => {
			const { origin } = new URL(held.sandbox.baseUrl);
			await expectRefusal([4, /^There is no API under this address \(\d+/], origin + wrong);
		},
	);

	test('while the service is down', async () => {
		const server = createServer().listen(0, '127.0.0.1');
		await new Promise((resolve) => server.once('listening', resolve));
		const address = server.address();
		await new Promise((resolve) => server.close(resolve));
		const port = typeof address === 'object' ? address?.port : undefined;
		await expectRefusal(
			[5, /^The service does not answer \(ECONNREFUSED\)/],
			`http://127.0.0.1:${port}/api/public/v1`,
		);
	});

	test.each([500, 503])('while the service answers %i', async (status) => {
		held.sandbox.addFault({ kind: 'status', status });
		await expectRefusal([5, /^The service returned an error \(50\d\)/], held.sandbox.baseUrl);
	});

	test('after a 429 at once', async () => {
		held.sandbox.addFault({ kind: 'retryAfter', seconds: 42 });
		await expectRefusal(
			[6, /^Rate limit reached \(429\).* in 42 seconds\.$/],
			held.sandbox.baseUrl,
		);
		expect(held.sandbox.requests).toHaveLength(1);
	});
});

test('a wrong token that is answered with 200 and success: false has its own exit code', async () => {
	const { exit, text } = await meetServer((_request, response) => {
		response.setHeader('content-type', 'application/json');
		response.end('{"success":false,"message":"Invalid token"}');
	});
	expect([exit, text]).toEqual([3, expect.stringContaining('DIGITAL_SALES_TOKEN')]);
});
