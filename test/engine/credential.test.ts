import dns from 'node:dns';
import { startSandbox, type Fault, type Sandbox } from '../sandbox';
import { runCredentialTest } from '../helpers/engine';

describe('Credential test', () => {
	let sandbox: Sandbox;

	beforeAll(async () => {
		sandbox = await startSandbox({ requestsPerMinute: null });
	});
	beforeEach(() => sandbox.reset());
	afterAll(async () => await sandbox.close());

	const result = async (changes: Record<string, string> = {}) =>
		await runCredentialTest({ baseUrl: sandbox.baseUrl, apiToken: sandbox.apiToken, ...changes });
	const answer = (status: number, body: unknown = {}): Fault => ({ kind: 'status', status, body });

	test('accepts a working credential, also with blanks and a trailing slash', async () => {
		const accepted = { status: 'OK', message: 'The platform accepts the token.' };

		await expect(result()).resolves.toEqual(accepted);
		await expect(
			result({ baseUrl: ` ${sandbox.baseUrl}/ `, apiToken: ` ${sandbox.apiToken} ` }),
		).resolves.toEqual(accepted);
	});

	test('requests products once, without a parameter, as JSON', async () => {
		await result();

		expect(sandbox.requests).toMatchObject([
			{
				method: 'GET',
				path: expect.stringMatching(/\/v1\/products$/) as string,
				query: {},
				headers: { accept: 'application/json' },
				bearer: true,
			},
		]);
	});

	test('does not ask again if the platform refuses the request', async () => {
		sandbox.addFault({ ...answer(403), times: 'always' });

		await expect(result()).resolves.toMatchObject({ status: 'Error' });
		expect(sandbox.requests).toHaveLength(1);
	});

	test.each([
		['a wrong token', { apiToken: 'test-wrong-token' }, /does not accept the API token \(401\)/],
		['no token', { apiToken: '' }, /API Token in the credential is empty/],
		['a wrong port', { baseUrl: 'http://127.0.0.1:9/v1' }, /could not be reached\. Check the host/],
	])('reports %s with its own message', async (_name, changes, message) => {
		const { status, message: told } = await result(changes);

		expect(status).toBe('Error');
		expect(told).toMatch(message);
	});

	const NO_API =
		'The host answers, but there is no API under this path. Check the path in Base URL: it ends with the version, for example /api/public/v1.';
	const atFault = (status: number): string =>
		`The platform returned an error (${status}). Try again later.`;

	test.each<[string, Fault, string]>([
		['data of another kind', answer(200, { hello: 1 }), NO_API],
		['404 without a page', answer(404), NO_API],
		['405', answer(405), NO_API],
		['a web page under a 200', { kind: 'html' }, NO_API],
		[
			'a redirect on the same host',
			{ kind: 'redirect', to: '/v2/products?token=x' },
			'The platform answered with a redirect (302). Redirects are not followed: set Base URL in the credential to the final address. It pointed to /v2/products.',
		],
		['an empty answer', { kind: 'emptyBody' }, NO_API],
		[
			'a refusal',
			answer(422, { success: false, message: 'No' }),
			'The platform did not accept the request (422). Correct what the platform rejected, then run this again.',
		],
		['a list of products under a fault', answer(500, { data: [] }), atFault(500)],
		['a maintenance page', { kind: 'html', status: 503 }, atFault(503)],
		[
			'a connection that breaks',
			{ kind: 'resetBeforeProcessing' },
			'The platform did not answer in time, or the connection broke. Try again later.',
		],
	])('says what to do after %s', async (_name, fault, message) => {
		sandbox.addFault({ ...fault, times: 'always' });

		await expect(result()).resolves.toEqual({ status: 'Error', message });
	});

	test('does not name the host if a fault has no code', async () => {
		// The harness looks up its own host, once.
		await result();
		const fail = (_host: string, _options: object, callback: (error: Error) => void): void =>
			callback(new Error('No'));
		jest.spyOn(dns, 'lookup').mockImplementation(fail as never);

		const { message } = await result({ baseUrl: 'http://shop.example/v1' });

		jest.restoreAllMocks();
		expect(message).toMatch(/did not answer in time, or the connection broke\. Try again/);
		expect(message).not.toContain('shop');
	});

	test('never shows the token', async () => {
		sandbox.addFault({ kind: 'echoRequest', times: 'always' });

		expect(JSON.stringify(await result())).not.toContain(sandbox.apiToken);
	});
});
