import { setTimeout as pause } from 'node:timers/promises';
import type { INodeParameters } from 'n8n-workflow';
import { freePort } from '../../helpers/n8n/processes';
import { startSandbox, type Fault } from '../../sandbox';
import { sampleOf } from '../../helpers/samples';
import { everythingIn, runNode } from '../../helpers/engine';
import { openAccount, useAccount } from '../../helpers/account';

describe('Errors of the platform', () => {
	const account = useAccount();

	const parametersOf = (name: string): INodeParameters => ({
		...sampleOf(name, account.sandbox, { transactionHash: 'abc123' }),
		options: { webhooksGoTo: 'none', qrCodeImage: false },
		simplify: false,
	});

	test('an error names a field by its label in the form', async () => {
		const errors = {
			'cart.0.price': ['must be positive'],
			'customer.document': ['is unknown', 'is short'],
			'cart.10.quantity': ['is high'],
			'cart.item1.price': ['is low'],
			strange: ['is odd'],
		};
		account.fault('charge', { kind: 'status', status: 422, body: { message: 'Invalid', errors } });

		const { description } = await account.fail(parametersOf('transaction/create'), {
			items: [{}, {}],
		});

		expect(description).toContain(
			[
				'The platform said: Invalid',
				'Cart > Item 1 > Price in Reais (cart.0.price): must be positive',
				'Customer CPF or CNPJ (customer.document): is unknown, is short',
				'Cart > Item 11 > Quantity (cart.10.quantity): is high',
				'cart.item1.price: is low',
				'strange: is odd.',
			].join(' | '),
		);
	});

	test('an unknown operation is an error that says what to choose', async () => {
		const failure = await account.fail({ resource: 'product', operation: 'remove' });

		expect(failure.message).toBe('Operation "remove" of "product" does not exist');
		expect(failure.description).toBe(
			'Nothing was sent.\nChoose the resource and the operation again.',
		);
		expect(account.sandbox.requests).toEqual([]);
	});

	test.each([
		[' ', 'is empty'],
		['not a host', 'is not a web address'],
		['https://api.example.com/v1?x=1', 'must end with its path'],
	])('the Base URL %j is refused, and the error says why', async (baseUrl, problem) => {
		const credentials = account.credentialsWith({ baseUrl });

		const { message } = await account.fail(parametersOf('transaction/get'), { credentials });

		expect(message).toContain(`Base URL in the credential ${problem}`);
	});

	test('a charge whose connection was refused is sent again, and made once', async () => {
		const port = await freePort();
		const credentials = account.credentialsWith({
			baseUrl: `http://127.0.0.1:${port}/api/public/v1`,
		});
		const { apiToken, bodyApiToken } = account.sandbox;
		const running = account.run(parametersOf('transaction/create'), { credentials });
		await pause(300);
		const late = await startSandbox({ port, apiToken, bodyApiToken, qrImage: 'absent' });
		try {
			const { json } = await running;

			expect(json).toMatchObject([{ payment_status: 'waiting_payment' }]);
			expect(late.charges()).toBe(1);
		} finally {
			await late.close();
		}
	});

	test.each([301, 302, 307, 308] as const)(
		'neither the token nor the charge is sent to the address of a redirect (%i)',
		async (status) => {
			const elsewhere = await openAccount();
			const to = `${elsewhere.sandbox.baseUrl}/transactions`;
			account.sandbox.addFault({ kind: 'redirect', to, status });

			await account.fail(parametersOf('transaction/create'));

			expect(elsewhere.sandbox.requests).toEqual([]);
			await elsewhere.sandbox.close();
		},
	);

	test('under Continue on Fail, each failed item has a message and status, and the run continues', async () => {
		account.fault('charge', { kind: 'status', status: 422, body: { message: 'No' }, after: 1 });
		const { json, items } = await account.run(
			{ ...parametersOf('transaction/create'), customerEmail: '={{ $json.email }}' },
			{
				continueOnFail: true,
				items: ['a@example.com', 'b@example.com', 'c', 'd@example.com'].map((email) => ({ email })),
			},
		);

		expect(json).toMatchObject([
			{ payment_status: 'waiting_payment' },
			{ error: { message: expect.stringContaining('422'), status: 422, outcome: 'refused' } },
			{ error: { message: 'Customer Email is not an e-mail address', outcome: 'notSent' } },
			{ payment_status: 'waiting_payment' },
		]);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3].map((item) => ({ item })),
		);
		expect(json.map((item) => Object.keys(item)).slice(1, 3)).toEqual([['error'], ['error']]);
		expect(account.sandbox.charges()).toBe(2);
	});

	test.each<[string, Fault, string]>([
		['an error that echoes the request', { kind: 'echoRequest' }, 'transaction/create'],
		['a rejection that echoes the request', { kind: 'echoRequest', status: 422 }, 'offer/create'],
		['a 200 that echoes the request', { kind: 'echoRequest', status: 200 }, 'transaction/create'],
		['a page that echoes the request', { kind: 'echoRequest', format: 'html' }, 'transaction/get'],
		['a reset', { kind: 'resetAfterProcessing' }, 'transaction/create'],
	])('after %s neither token is shown anywhere', async (_name, fault, operation) => {
		for (const continueOnFail of [false, true]) {
			account.sandbox.addFault(fault);
			const outcome = await runNode(parametersOf(operation), {
				credentials: account.credentials,
				continueOnFail,
			});

			const everything = everythingIn(outcome);
			expect(account.sandbox.requests.length).toBeGreaterThan(0);
			expect(everything).not.toContain(account.sandbox.apiToken);
			expect(everything).not.toContain(account.sandbox.bodyApiToken);
		}
	});
});
