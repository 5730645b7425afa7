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
			'500',
			{ kind: 'status', status: 500, body: { message: 'Oops' } },
			'The service returned an error (500)',
			`The service said: Oops.\n${SERVICE_ADVICE}\n${REQUEST}.`,
		],
		[
			'a redirect to another host',
			{ kind: 'redirect', to: 'https://elsewhere.example.com/v1/x?token=1#top' },
			'The service answered with a redirect (302)',
			`${REDIRECT_ADVICE} It pointed to https://elsewhere.example.com/v1/x.\n${REQUEST}.`,
		],
		[
			'a redirect to nowhere',
			{ kind: 'status', status: 308, body: {} },
			'The service answered with a redirect (308)',
			`${REDIRECT_ADVICE}\n${REQUEST}.`,
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

	test.each([
		[' titled "Black Friday" at R$ 19,90', {}],
		['', { title: '', price: '' }],
	])('an offer%s whose outcome is not known', async (named, more) => {
		account.sandbox.addFault({ kind: 'status', status: 500 });
		const hash = account.sandbox.products[0]?.hash;

		const { message, description } = await account.fail({ ...offer(), ...more });

		expect(message).toBe('The offer may already exist: the service returned an error (500)');
		expect(description).toContain(
			`Details: an offer for the product ${hash}${named}.\nCheck the service's dashboard before you run this again: the node then refuses the offer, and shows a code that allows it once.\n`,
		);
		expect(account.sandbox.requests).toHaveLength(1);
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
			[429, [expect.stringContaining('so this run waited')]],
			[503, []],
		])('after a %i that asks for no seconds the run tells %j', async (status, told) => {
			const headers = { 'Retry-After': '0' };
			account.sandbox.addFault({ kind: 'status', status, headers });

			const { hints } = await account.run({ resource: 'product', operation: 'getAll', limit: 1 });

			expect(hints.map(({ message }) => message)).toEqual(told);
		});

		test('a shorter wait than the one of its turn is not believed', async () => {
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 1, times: 3 });
			jest.spyOn(clock, 'random').mockReturnValue(0);

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			expect(account.sandbox.requests.map(({ status }) => status)).toEqual([429, 429, 429, 404]);
			expect(waited()).toBeGreaterThan((2.5 + 5 + 10 - 0.1) * 1_000);
		});

		test('a 429 that names no wait costs no try, and is waited out twice as long each time, up to 20 s', async () => {
			account.sandbox.addFault({ kind: 'retryAfter', format: 'absent', times: 6 });
			jest.spyOn(clock, 'random').mockReturnValue(0);

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			expect(account.sandbox.requests.map(({ status }) => status)).toEqual([
				...Array<number>(6).fill(429),
				404,
			]);
			expect(Math.round(waited() / 1_000)).toBeGreaterThanOrEqual(47);
			expect(waited()).toBeLessThanOrEqual((2.5 + 5 + 10 + 10 + 10 + 10) * 1_000);
		});
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
