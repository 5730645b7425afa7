import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../../sandbox';
import { runNode } from '../harness';
import { pixParameters, useAccount, useLimits } from '../support/account';

const REQUEST = 'Request: GET /transactions/{hash}';
const BASE_URL_ADVICE = 'Try again. If this continues, check Base URL in the credential.';
const REDIRECT_ADVICE =
	'Redirects are not followed: set Base URL in the credential to the final address.';
const REFUSED_ADVICE = 'Correct what the service rejected, then run this again.';
const SERVICE_ADVICE = 'The problem is on the side of the service. Try again later.';

describe('What a person reads of a failed request', () => {
	const limit = useLimits();
	const account = useAccount();

	/** Reads a transaction within other limits than the usual ones. */
	const reading = ({ maxTries = 1, maxWait = 0 } = {}): INodeParameters => {
		limit({ maxTries, maxTotalMs: maxWait * 1_000 });
		return { resource: 'transaction', operation: 'get', transactionHash: 'ab12' };
	};
	const offer = (): INodeParameters => ({
		resource: 'offer',
		operation: 'create',
		productHash: account.sandbox.products[0]?.hash ?? '',
		title: 'Black Friday',
		price: '19,90',
	});

	test.each<[string, Fault, string, string]>([
		[
			'a rate limit whose body breaks off',
			{ kind: 'status', status: 429, isCut: true },
			'The service is still limiting requests (429)',
			`Try again later, or run fewer workflows of this account at the same time.\n${REQUEST}.`,
		],
		...[502, 503, 504].map((status): [string, Fault, string, string] => [
			`${status}`,
			{ kind: 'status', status, body: {} },
			`The service returned an error (${status})`,
			`${SERVICE_ADVICE}\n${REQUEST}.`,
		]),
		[
			'500',
			{ kind: 'status', status: 500, body: { message: 'Oops' } },
			'The service returned an error (500)',
			`The service said: Oops.\n${SERVICE_ADVICE}\n${REQUEST}.`,
		],
		[
			'a broken connection',
			{ kind: 'resetBeforeProcessing' },
			'The service did not answer in time, or the connection broke',
			`Try again later.\n${REQUEST}, ECONNRESET.`,
		],
		[
			'a redirect to another host',
			{ kind: 'redirect', to: 'https://elsewhere.example.com/v1/x?token=1#top' },
			'The service answered with a redirect (302)',
			`${REDIRECT_ADVICE} It pointed to https://elsewhere.example.com/v1/x.\n${REQUEST}.`,
		],
		[
			'a redirect on the same host',
			{ kind: 'redirect', to: '/v2/x?token=1', status: 308 },
			'The service answered with a redirect (308)',
			`${REDIRECT_ADVICE} It pointed to /v2/x.\n${REQUEST}.`,
		],
		[
			'a redirect to nowhere',
			{ kind: 'status', status: 302, body: {} },
			'The service answered with a redirect (302)',
			`${REDIRECT_ADVICE}\n${REQUEST}.`,
		],
		[
			'no permission',
			{ kind: 'status', status: 403, body: {} },
			'The API token has no permission for this (403)',
			`Use a token of an account that may do this, or ask the service for the permission.\n${REQUEST}.`,
		],
		[
			'a refusal in whole sentences',
			{ kind: 'status', status: 409, body: { message: 'Already there!' } },
			'The service did not accept the request (409)',
			`The service said: Already there!\nTry again later.\n${REQUEST}.`,
		],
		[
			'a refusal with a dot inside',
			{ kind: 'status', status: 409, body: { message: 'At most R$ 5.000' } },
			'The service did not accept the request (409)',
			`The service said: At most R$ 5.000.\nTry again later.\n${REQUEST}.`,
		],
		...[400, 422].map((status): [string, Fault, string, string] => [
			`${status} with a field that no form has`,
			{ kind: 'status', status, body: { errors: { extra: ['is wrong'] } } },
			`The service did not accept the request (${status})`,
			`The service said: extra: is wrong.\n${REFUSED_ADVICE}\n${REQUEST}.`,
		]),
		[
			'a failure under a 2xx',
			{ kind: 'successFalse', message: 'No' },
			'The service did not accept the request',
			`The service said: No.\n${REFUSED_ADVICE}\n${REQUEST}.`,
		],
		[
			'a web page',
			{ kind: 'html' },
			'The service answered with a web page instead of data',
			`Check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.\n${REQUEST}.`,
		],
		[
			'data of another shape',
			{ kind: 'status', status: 200, body: { hello: 1 } },
			'The service answered in an undocumented format',
			`${BASE_URL_ADVICE}\n${REQUEST}.`,
		],
		[
			'no JSON',
			{ kind: 'notJson', text: 'OK' },
			'The answer of the service could not be read',
			`${BASE_URL_ADVICE}\n${REQUEST}.`,
		],
	])('%s', async (_name, fault, message, description) => {
		account.sandbox.addFault({ ...fault, times: 'always' });

		const { node } = await runNode(reading(), { credentials: account.credentials });

		expect(node?.error).toMatchObject({ message, description });
		expect(account.sandbox.requests).toHaveLength(1);
	});

	test('an offer whose outcome is not known', async () => {
		account.sandbox.addFault({ kind: 'status', status: 500 });
		const hash = account.sandbox.products[0]?.hash;

		const { message, description } = await account.fail(offer());

		expect(message).toBe('The offer may already exist: the service returned an error (500)');
		expect(description).toContain(
			`Details: an offer for the product ${hash} titled "Black Friday" at R$ 19,90.\nCheck the service's dashboard before you run this again: the node then refuses the offer, and shows a code that allows it once.\n`,
		);
		expect(account.sandbox.requests).toHaveLength(1);
	});

	test('an offer without title and price whose outcome is not known', async () => {
		account.sandbox.addFault({ kind: 'status', status: 500 });

		const { description } = await account.fail({ ...offer(), title: '', price: '' });

		expect(description).toContain(
			`Details: an offer for the product ${account.sandbox.products[0]?.hash}.\n`,
		);
	});

	test('a charge whose outcome is not known, after it was cancelled too', async () => {
		account.sandbox.addFault({ kind: 'delay', ms: 500 });
		const running = runNode(pixParameters(account.sandbox), { credentials: account.credentials });
		while (account.sandbox.requests.length === 0) await clock.sleep(5);
		running.cancel();

		const { node } = await running;

		expect(node?.error?.message).toBe(
			'The customer may already have been charged: the service did not answer in time, or the connection broke',
		);
	});

	test('a read that was cancelled while it was under way says just that', async () => {
		account.sandbox.addFault({ kind: 'delay', ms: 500 });
		const running = runNode(reading(), { credentials: account.credentials });
		while (account.sandbox.requests.length === 0) await clock.sleep(5);
		running.cancel();

		expect((await running).node?.error).toMatchObject({
			message: 'The execution was canceled',
			context: { itemIndex: 0 },
		});
		expect(account.sandbox.requests).toHaveLength(1);
	});

	describe('keeps to its limits:', () => {
		let startedAt: number;
		const waited = (): number => clock.elapsed() - startedAt;

		beforeEach(() => {
			startedAt = clock.elapsed();
		});
		afterEach(() => jest.restoreAllMocks());

		test.each([1, 2, 3])('%i tries at most', async (maxTries) => {
			account.sandbox.addFault({ kind: 'status', status: 503, body: {}, times: 'always' });

			const failure = await account.fail(reading({ maxTries, maxWait: 300 }));

			expect(account.sandbox.requests).toHaveLength(maxTries);
			expect(failure.description).toBe(
				`${SERVICE_ADVICE}\n${REQUEST}${maxTries > 1 ? `, tried ${maxTries} times` : ''}.`,
			);
		});

		test.each([
			[29, 1],
			[30, 2],
			[31, 2],
		])(
			'a wait of %i seconds at most where the service asks for 30: %i requests',
			async (maxWait, sent) => {
				account.sandbox.addFault({
					kind: 'status',
					status: 429,
					headers: { 'Retry-After': '30' },
					times: 'always',
				});

				await account.fail(reading({ maxWait, maxTries: 5 }));

				expect(account.sandbox.requests).toHaveLength(sent);
			},
		);

		test('a 429 whose body breaks off closes the rate limit for as long as its headers say', async () => {
			const headers = { 'Retry-After': '30' };
			account.sandbox.addFault({ kind: 'status', status: 429, headers, isCut: true });

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			expect(account.sandbox.requests.map(({ status }) => status)).toEqual([429, 404]);
			expect(waited()).toBeGreaterThan(29_000);
		});

		test('the wait of eight runs that queue for the same rate limit', async () => {
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 4, times: 'always' });
			// All have sent their first try before any of them waits.
			account.sandbox.addFault({ kind: 'delay', ms: 200, times: 8 });

			const runs = Array.from({ length: 8 }, () => account.fail(reading({ maxWait: 10 })));
			const failures = await Promise.all(runs);

			for (const { message } of failures) expect(message).toMatch(/still limiting requests/);
			expect(account.sandbox.requests.length).toBeLessThanOrEqual(8 + 2);
			expect(waited()).toBeLessThan(10_600);
		});

		test('a rate limit that closes for longer than that leaves the failure of the last try', async () => {
			account.sandbox.addFault({ kind: 'delay', ms: 200 });
			account.sandbox.addFault({ kind: 'status', status: 503 });
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 60 });
			const failing = account.fail(reading({ maxTries: 5, maxWait: 10 }));
			while (account.sandbox.requests.length === 0) await clock.sleep(5);
			await account.fail(reading());

			expect((await failing).message).toBe('The service returned an error (503)');
			expect(account.sandbox.requests).toHaveLength(2);
			expect(waited()).toBeLessThan(1_000);
		});

		test.each([
			[429, '30', [expect.stringContaining('so this run waited')]],
			[429, '0', [expect.stringContaining('so this run waited')]],
			[503, '0', []],
		])('after a %i that asks for %s seconds the run tells %j', async (...given) => {
			const [status, seconds, told] = given;
			const headers = { 'Retry-After': seconds };
			account.sandbox.addFault({ kind: 'status', status, headers });

			const { hints } = await account.run({ resource: 'product', operation: 'getAll', limit: 1 });

			expect(hints.map(({ message }) => message)).toEqual(told);
		});

		test.each([
			[{ 'Retry-After': '0' }],
			[{ 'Retry-After': '-5' }],
			[{ 'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT' }],
			[{ 'X-RateLimit-Reset': '1445412480' }],
		])('a 429 that says %j is waited out all the same, and costs no try', async (headers) => {
			account.sandbox.addFault({ kind: 'status', status: 429, headers, times: 'always' });
			jest.spyOn(clock, 'random').mockReturnValue(0);

			const failure = await account.fail(reading({ maxTries: 1, maxWait: 20 }));

			expect(account.sandbox.requests).toHaveLength(4);
			expect(waited()).toBeGreaterThan((2.5 + 5 + 10 - 0.1) * 1_000);
			expect(failure.message).toBe('The service is still limiting requests (429)');
		});

		test('a shorter wait than the one of its turn is not believed', async () => {
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 1, times: 3 });
			jest.spyOn(clock, 'random').mockReturnValue(0);

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			expect(account.sandbox.requests.map(({ status }) => status)).toEqual([429, 429, 429, 404]);
			expect(waited()).toBeGreaterThan((2.5 + 5 + 10 - 0.1) * 1_000);
		});

		test.each(['absent', 'garbage'] as const)(
			'a 429 whose Retry-After is %s is waited out twice as long each time, up to 20 s',
			async (format) => {
				account.sandbox.addFault({ kind: 'retryAfter', format, times: 6 });
				jest.spyOn(clock, 'random').mockReturnValue(0);
				await account.fail(reading({ maxTries: 1, maxWait: 300 }));

				expect(account.sandbox.requests.map(({ status }) => status)).toEqual([
					...Array<number>(6).fill(429),
					404,
				]);
				expect(Math.round(waited() / 1_000)).toBeGreaterThanOrEqual(47);
				expect(waited()).toBeLessThanOrEqual((2.5 + 5 + 10 + 10 + 10 + 10) * 1_000);
			},
		);
	});

	test('a request that takes longer than a minute ends', async () => {
		account.sandbox.addFault({ kind: 'delay', ms: 90_000 });
		const started = clock.elapsed();

		const failure = await account.fail(reading());

		expect(failure.message).toBe('The service did not answer in time, or the connection broke');
		expect(failure.description).toBe(`Try again later.\n${REQUEST}, ECONNABORTED.`);
		expect(clock.elapsed() - started).toBeGreaterThanOrEqual(60_000);
		expect(clock.elapsed() - started).toBeLessThan(65_000);
	});

	test('a credential whose fields are no texts says so', async () => {
		const failure = await account.fail(reading(), {
			credentials: account.credentialsWith({ apiToken: 5 }),
		});

		expect(failure.message).toBe(
			'A field of the credential is not text, or is too long. Open the credential, correct it and save it again.',
		);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('Allowed Domains that include the host let the request through', async () => {
		await account.run(
			{ resource: 'product', operation: 'getAll', limit: 1 },
			{
				credentials: account.credentialsWith({
					allowedHttpRequestDomains: 'domains',
					allowedDomains: 'api.example.com, 127.0.0.1',
				}),
			},
		);

		expect(account.sandbox.requests.map(({ status }) => status)).toEqual([200]);
	});
});
