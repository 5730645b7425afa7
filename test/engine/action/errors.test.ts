import type { INodeParameters } from 'n8n-workflow';
import type { Fault } from '../../sandbox';
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
			'tracking.utm_source': ['is new'],
			constructor: ['is odd'],
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
				'Additional Fields > Tracking > UTM Source (tracking.utm_source): is new',
				'constructor: is odd.',
			].join(' | '),
		);
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

	test.each([302, 307] as const)(
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
