import { startSandbox, type Sandbox } from '../sandbox';
import { runCredentialTest } from './harness';

describe('Credential test', () => {
	let sandbox: Sandbox;

	beforeAll(async () => {
		sandbox = await startSandbox({ requestsPerMinute: null });
	});
	beforeEach(() => sandbox.reset());
	afterAll(async () => await sandbox.close());

	const result = async (
		changes: Record<string, string> = {},
	): Promise<{ status: string; message: string }> =>
		await runCredentialTest({ baseUrl: sandbox.baseUrl, apiToken: sandbox.apiToken, ...changes });

	test('accepts what works, also with blanks and a slash too many', async () => {
		await expect(result()).resolves.toMatchObject({ status: 'OK' });
		await expect(
			result({ baseUrl: ` ${sandbox.baseUrl}/ `, apiToken: ` ${sandbox.apiToken} ` }),
		).resolves.toMatchObject({ status: 'OK' });
	});

	test.each([
		[
			'a wrong token',
			() => ({ apiToken: 'test-wrong-token' }),
			/does not accept the API token \(401\)/,
		],
		['no token', () => ({ apiToken: '' }), /API Token of the credential is empty/],
		[
			'a wrong host',
			() => ({ baseUrl: 'http://host.invalid/api/public/v1' }),
			/host host\.invalid does not exist/,
		],
		[
			'a wrong port',
			() => ({ baseUrl: 'http://127.0.0.1:9/v1' }),
			/Nothing answers at 127\.0\.0\.1:9/,
		],
		[
			'a path that gives a web page',
			() => ({ baseUrl: `${new URL(sandbox.baseUrl).origin}/api` }),
			/no API under this path \(200, a web page\)/,
		],
		[
			'a path that gives 404',
			() => ({ baseUrl: `${new URL(sandbox.baseUrl).origin}/wrong/v1` }),
			/no API under this path \(404/,
		],
		['no address', () => ({ baseUrl: 'nothing here' }), /must be a web address/],
	])('tells %s by its own message', async (_name, changes, message) => {
		const { status, message: told } = await result(changes());

		expect(status).toBe('Error');
		expect(told).toMatch(message);
	});

	test.each([
		[
			'a redirect',
			{ kind: 'redirect', to: 'https://elsewhere.example.com/v1?token=x' } as const,
			/redirects.*elsewhere\.example\.com\/v1\)/,
		],
		['a rate limit', { kind: 'retryAfter' } as const, /limiting requests/],
		[
			'a fault of the service',
			{ kind: 'status', status: 500 } as const,
			/failed to answer \(500\)/,
		],
		[
			'data of another kind',
			{ kind: 'status', status: 200, body: { hello: 1 } } as const,
			/not with a list of products/,
		],
	])('tells %s', async (_name, fault, message) => {
		sandbox.addFault(fault);

		await expect(result()).resolves.toMatchObject({
			status: 'Error',
			message: expect.stringMatching(message),
		});
	});

	test('never shows the token', async () => {
		sandbox.addFault({ kind: 'echoRequest', times: 'always' });

		expect(JSON.stringify(await result())).not.toContain(sandbox.apiToken);
	});
});
