import dns from 'node:dns';
import { startSandbox, type Fault, type Sandbox } from '../../sandbox';
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
		const accepted = { status: 'OK', message: 'The service accepts the token.' };

		await expect(result()).resolves.toEqual(accepted);
		await expect(
			result({ baseUrl: ` ${sandbox.baseUrl}/ `, apiToken: ` ${sandbox.apiToken} ` }),
		).resolves.toEqual(accepted);
	});

	test('asks for one product, as JSON', async () => {
		await result();

		expect(sandbox.requests).toMatchObject([
			{
				method: 'GET',
				path: expect.stringMatching(/\/v1\/products$/) as string,
				query: { page: '1', per_page: '1' },
				headers: { accept: 'application/json' },
				bearer: true,
			},
		]);
	});

	test.each<[string, Fault]>([
		['422', { kind: 'status', status: 422, body: { errors: { per_page: ['too small'] } } }],
		['a failure under 200', { kind: 'successFalse' }],
	])('accepts what refuses only the page size: by %s', async (_name, refusal) => {
		sandbox.addFault({ ...refusal, query: { per_page: '1' }, times: 'always' });

		await expect(result()).resolves.toMatchObject({ status: 'OK' });
		expect(sandbox.requests.map(({ query }) => query)).toEqual([
			{ page: '1', per_page: '1' },
			{ page: '1' },
		]);
	});

	test.each([401, 403, 404])(
		'asks once only where %i refuses more than the page size',
		async (status) => {
			sandbox.addFault({ kind: 'status', status, body: {}, times: 'always' });

			await expect(result()).resolves.toMatchObject({ status: 'Error' });
			expect(sandbox.requests).toHaveLength(1);
		},
	);

	test.each([
		['a wrong token', { apiToken: 'test-wrong-token' }, /does not accept the API token \(401\)/],
		['no token', { apiToken: '' }, /API Token in the credential is empty/],
		[
			'a wrong port',
			{ baseUrl: 'http://127.0.0.1:9/v1' },
			/could not be reached \(ECONNREFUSED\)\. Nothing was sent\. Check the host/,
		],
	])('tells %s by its own message', async (_name, changes, message) => {
		const { status, message: told } = await result(changes);

		expect(status).toBe('Error');
		expect(told).toMatch(message);
	});

	test.each<[string, Fault, string]>([
		[
			'data of another kind',
			{ kind: 'status', status: 200, body: { hello: 1 } },
			'The host answers, but not with a list of products. Check Base URL.',
		],
		[
			'404 without a page',
			{ kind: 'status', status: 404, body: {} },
			'The host answers, but there is no API under this path (404). Check the path in Base URL: it ends with the version, for example /api/public/v1.',
		],
		[
			'405',
			{ kind: 'status', status: 405, body: {} },
			'The host answers, but there is no API under this path (405). Check the path in Base URL: it ends with the version, for example /api/public/v1.',
		],
		[
			'a web page under a 200',
			{ kind: 'html' },
			'The host answers, but there is no API under this path (200, a web page). Check the path in Base URL: it ends with the version, for example /api/public/v1.',
		],
		[
			'a redirect on the same host',
			{ kind: 'redirect', to: '/v2/products?token=x' },
			'The service answered with a redirect (302). Redirects are not followed: set Base URL in the credential to the final address. It pointed to /v2/products.',
		],
		[
			'an empty answer',
			{ kind: 'emptyBody' },
			'The answer of the service could not be read. Try again. If this continues, check Base URL in the credential.',
		],
		[
			'a refusal',
			{ kind: 'status', status: 422, body: { success: false, message: 'No' } },
			'The service did not accept the request (422). Check Base URL and API Token.',
		],
		[
			'a list of products under a fault',
			{ kind: 'status', status: 500, body: { data: [] } },
			'The service returned an error (500). The problem is on the side of the service. Try again later.',
		],
		[
			'a maintenance page',
			{ kind: 'html', status: 503 },
			'The service returned an error (503). The problem is on the side of the service. Try again later.',
		],
		[
			'a connection that breaks',
			{ kind: 'resetBeforeProcessing' },
			'The service did not answer in time, or the connection broke (ECONNRESET). Try again later.',
		],
	])('says of %s what to do', async (_name, fault, message) => {
		sandbox.addFault({ ...fault, times: 'always' });

		await expect(result()).resolves.toEqual({ status: 'Error', message });
	});

	test.each([
		['EAI_AGAIN', 'could not be reached (EAI_AGAIN). Nothing was sent. Check the host'],
		[undefined, 'did not answer in time, or the connection broke. Try again'],
	])('says of a host that cannot be reached (%s) what to check', async (code, message) => {
		// The harness looks up its own host, once.
		await result();
		jest
			.spyOn(dns, 'lookup')
			.mockImplementation(((_host: string, _options: object, callback: (error: Error) => void) =>
				callback(Object.assign(new Error('No'), code && { code }))) as never);

		const shown = await result({ baseUrl: 'http://shop.example/v1' });

		jest.restoreAllMocks();
		expect(shown.message).toContain(message);
		expect(shown.message).not.toContain('shop');
	});

	test('never shows the token', async () => {
		sandbox.addFault({ kind: 'echoRequest', times: 'always' });

		expect(JSON.stringify(await result())).not.toContain(sandbox.apiToken);
	});
});
