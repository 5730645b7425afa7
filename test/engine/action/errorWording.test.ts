import sum from 'lodash/sum';
import type { INodeParameters } from 'n8n-workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import type { Fault } from '../../sandbox';
import { runNode } from '../../helpers/engine';
import { pixParameters, useAccount, useLimits } from '../../helpers/account';

const REQUEST = 'Request: GET /transactions/{hash}';
const UNREADABLE = 'The answer of the platform could not be read';
const UNREADABLE_ADVICE =
	'Try again. If this continues, check Base URL in the credential. To list products, set Options > Page Size.';
const REDIRECT_ADVICE =
	'Redirects are not followed: set Base URL in the credential to the final address.';

const answer = (status: number, body: unknown = {}): Fault => ({ kind: 'status', status, body });

describe('The error of a failed request', () => {
	const limit = useLimits();
	const account = useAccount();

	/** Reads a transaction with other limits than usual. */
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
			'a redirect to another host',
			{ kind: 'redirect', to: 'https://elsewhere.example.com/v1/x?token=1#top' },
			'The platform answered with a redirect (302)',
			`${REDIRECT_ADVICE} It pointed to https://elsewhere.example.com/v1/x.`,
		],
		[
			'a redirect without an address',
			answer(308),
			'The platform answered with a redirect (308)',
			REDIRECT_ADVICE,
		],
		[
			'a refusal with a dot inside a number',
			answer(409, { message: 'At most R$ 5.000' }),
			'The platform returned an error (409)',
			'The platform said: At most R$ 5.000.\nTry again later.',
		],
		[
			'a web page',
			{ kind: 'html' },
			'The platform answered with a web page instead of data',
			'Check the path in Base URL of the credential: it ends with the version, for example /api/public/v1.',
		],
		['data of another shape', answer(200, { hello: 1 }), UNREADABLE, UNREADABLE_ADVICE],
		['an answer that is not JSON', { kind: 'notJson', text: 'OK' }, UNREADABLE, UNREADABLE_ADVICE],
	])('says what happened and what to do after %s', async (_name, fault, message, description) => {
		account.sandbox.addFault({ ...fault, times: 'always' });

		expect(await account.fail(reading())).toMatchObject({
			message,
			description: `${description}\n${REQUEST}.`,
		});
		expect(account.sandbox.requests).toHaveLength(1);
	});

	test('comes with what the platform says about a rejected request', async () => {
		account.sandbox.addFault({ kind: 'successFalse', message: 'No' });

		expect(await account.fail(reading())).toMatchObject({
			message: 'The platform did not accept the request',
			description: `The platform said: No.\nCorrect what the platform rejected, then run this again.\n${REQUEST}.`,
		});
	});

	test('says how to list less after an answer that is too large, which is not read to its end', async () => {
		account.fault('list', { kind: 'endlessBody' });

		expect(await account.fail({ resource: 'product', operation: 'getAll' })).toMatchObject({
			message: UNREADABLE,
			description: expect.stringContaining('To list products, set Options > Page Size.'),
		});
		expect(account.sandbox.requests).toHaveLength(1);
	});

	test.each([
		[' titled "Black Friday" at R$ 19,90', {}],
		['', { title: '', price: '' }],
	])('says how to find out after an unknown outcome of an offer%s', async (named, more) => {
		account.sandbox.addFault({ kind: 'status', status: 500 });
		const hash = account.sandbox.products[0]?.hash;

		const { message, description } = await account.fail({ ...offer(), ...more });

		expect(message).toBe('The offer may already exist: the platform returned an error (500)');
		expect(description).toContain(
			`Details: an offer for the product ${hash}${named}.\nLook for it on your platform in a few minutes. 1. It is there: continue without this item. 2. It is not there: create it in a new execution, with this item alone.\n`,
		);
		expect(account.sandbox.requests).toHaveLength(1);
	});

	test.each<[string, () => INodeParameters, string]>([
		[
			'a charge',
			() => pixParameters(account.sandbox),
			'The customer may already have been charged: the platform did not answer in time, or the connection broke',
		],
		['a read', reading, 'The execution was canceled'],
	])('says what is known of %s that is canceled', async (_name, parameters, message) => {
		account.sandbox.addFault({ kind: 'delay', ms: 500 });
		const running = runNode(parameters(), { credentials: account.credentials });
		while (account.sandbox.requests.length === 0) await clock.sleep(5);
		running.cancel();

		const { node } = await running;

		expect(node?.error).toMatchObject({ message, context: { itemIndex: 0 } });
		expect(account.sandbox.requests).toHaveLength(1);
	});

	describe('comes within these limits:', () => {
		let startedAt: number;
		const waited = (): number => clock.elapsed() - startedAt;

		beforeEach(() => {
			startedAt = clock.elapsed();
		});
		afterEach(() => jest.restoreAllMocks());

		test.each([1, 3])('a request is tried at most %i times', async (maxTries) => {
			account.sandbox.addFault({ ...answer(503), times: 'always' });

			const { description } = await account.fail(reading({ maxTries, maxWait: 300 }));

			expect(account.sandbox.requests).toHaveLength(maxTries);
			expect(description).toBe(
				`Try again later.\n${REQUEST}${maxTries > 1 ? `, tried ${maxTries} times` : ''}.`,
			);
		});

		test('a 429 whose body breaks off is waited out for as long as its headers say', async () => {
			const headers = { 'Retry-After': '30' };
			account.sandbox.addFault({ kind: 'status', status: 429, headers, isCut: true });

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			expect(account.sandbox.requests.map(({ status }) => status)).toEqual([429, 404]);
			expect(waited()).toBeGreaterThan(29_000);
		});

		test('eight runs that queue for the same rate limit wait no longer than their limit', async () => {
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 4, times: 'always' });
			// All send their first try before any of them waits.
			account.sandbox.addFault({ kind: 'delay', ms: 200, times: 8 });

			const runs = Array.from({ length: 8 }, () => account.fail(reading({ maxWait: 10 })));
			const failures = await Promise.all(runs);

			for (const { message } of failures) expect(message).toMatch(/still limiting requests/);
			expect(account.sandbox.requests.length).toBeLessThanOrEqual(8 + 2);
			expect(waited()).toBeLessThan(10_600);
		});

		test('a 429 of another run that asks for a longer wait ends the tries with the error of the last', async () => {
			account.sandbox.addFault({ kind: 'delay', ms: 200 });
			account.sandbox.addFault({ kind: 'status', status: 503 });
			account.sandbox.addFault({ kind: 'retryAfter', seconds: 60 });
			const failing = account.fail(reading({ maxTries: 5, maxWait: 10 }));
			while (account.sandbox.requests.length === 0) await clock.sleep(5);
			await account.fail(reading());

			expect((await failing).message).toBe('The platform returned an error (503)');
			expect(account.sandbox.requests).toHaveLength(2);
			expect(waited()).toBeLessThan(1_000);
		});

		test.each([
			[429, [expect.stringContaining('so this run waited')]],
			[503, []],
		])('after a %i with Retry-After 0 the run has the hints %j', async (status, told) => {
			const headers = { 'Retry-After': '0' };
			account.sandbox.addFault({ kind: 'status', status, headers });

			const { hints } = await account.run({ resource: 'product', operation: 'getAll', limit: 1 });

			expect(hints.map(({ message }) => message)).toEqual(told);
		});

		test.each<[string, Fault, number[]]>([
			[
				'uses up no try, and is waited out twice as long each time, up to 20 s',
				{ kind: 'retryAfter', format: 'absent', times: 5 },
				[2.5, 5, 10, 10, 10],
			],
			[
				'is also waited out twice as long if it asks for less',
				{ kind: 'retryAfter', seconds: 1, times: 3 },
				[2.5, 5, 10],
			],
		])('a 429 %s', async (_name, fault, waits) => {
			account.sandbox.addFault(fault);
			jest.spyOn(clock, 'random').mockReturnValue(0);

			await account.fail(reading({ maxTries: 1, maxWait: 300 }));

			const statuses = account.sandbox.requests.map(({ status }) => status);
			expect(statuses).toEqual([...waits.map(() => 429), 404]);
			expect(waited()).toBe(1_000 * sum(waits));
		});
	});

	test.each<[string, Fault, string]>([
		['takes longer than a minute', { kind: 'delay', ms: 90_000 }, ', ECONNABORTED'],
		['is answered piece by piece without an end', { kind: 'slowBody', ms: 400_000 }, ''],
		['begins to be answered, and then no more', { kind: 'slowBody', ms: 1_000_000 }, ''],
	])('says after a minute that no answer came if a request %s', async (_name, fault, code) => {
		account.sandbox.addFault(fault);
		const started = clock.elapsed();

		expect(await account.fail(reading())).toMatchObject({
			message: 'The platform did not answer in time, or the connection broke',
			description: `Try again later.\n${REQUEST}${code}.`,
		});
		expect(clock.elapsed() - started).toBeGreaterThanOrEqual(60_000);
		expect(clock.elapsed() - started).toBeLessThan(65_000);
	});
});
