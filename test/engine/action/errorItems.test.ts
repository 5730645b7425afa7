import { everyOperation, sampleOf } from '../../helpers/samples';
import { errorIn, pixParameters, useAccount, useLimits } from '../../helpers/account';

const HASH = 'nosuch1';

/** The data by which a workflow can decide after an item has failed and the run continues. */
describe('A failed item under On Error: Continue', () => {
	const limit = useLimits();
	const account = useAccount();

	const operations = everyOperation().map(({ resource, value }) => `${resource}/${value}`);
	const ABOUT: Record<string, unknown> = {
		'product/getAll': null,
		'offer/create': expect.stringContaining('titled "Black Friday"'),
		'transaction/create': expect.stringContaining('customer document ending in'),
		'transaction/get': `transaction ${HASH}`,
		'transaction/waitForPayment': `transaction ${HASH}`,
	};
	const aboutOf = (name: string): unknown =>
		name in ABOUT ? ABOUT[name] : expect.stringContaining(HASH);
	const failed = async (name: string, credentials = account.credentials) => {
		const parameters = sampleOf(name, account.sandbox, { transactionHash: HASH });
		limit({ maxTries: 1 });
		const { outputs } = await account.run(parameters, { continueOnFail: true, credentials });
		return errorIn(outputs.flat()[0]?.json);
	};

	test.each(operations)('of %s contains the words of the platform', async (name) => {
		const body = {
			success: false,
			message: 'Invalid',
			errors: { 'customer.email': ['is gone'], x: ['is odd', 'and late'] },
		};
		account.sandbox.addFault({ kind: 'status', status: 403, body, times: 'always' });

		expect(await failed(name)).toEqual({
			message: 'The platform does not accept the API token (403)',
			advice: expect.stringContaining('ask the platform for the permission'),
			status: 403,
			outcome: 'refused',
			messages: ['Invalid'],
			fields: { 'customer.email': ['is gone'], x: ['is odd', 'and late'] },
			about: aboutOf(name),
		});
	});

	test('has the outcome notSent if it was not sent, and unknown after a 500', async () => {
		account.sandbox.addFault({ kind: 'status', status: 500, body: { message: 'Oops' } });
		const unknown = await failed('transaction/get');
		const baseUrl = 'http://127.0.0.1:9/v1';
		const unreachable = await failed('transaction/get', account.credentialsWith({ baseUrl }));

		expect(unknown).toMatchObject({ status: 500, outcome: 'unknown', messages: ['Oops'] });
		expect(unreachable).toMatchObject({
			message: 'The platform could not be reached',
			status: null,
			outcome: 'notSent',
			messages: [],
			fields: {},
		});
	});

	test('names the mistake in the form, and says that it was not sent', async () => {
		const { json } = await account.run(pixParameters(account.sandbox, { customerEmail: 'maria' }), {
			continueOnFail: true,
		});

		expect(errorIn(json[0])).toEqual({
			message: 'Customer Email is not an e-mail address',
			advice: 'This item was not sent.',
			status: null,
			outcome: 'notSent',
			messages: [],
			fields: {},
			about: null,
		});
		expect(account.sandbox.requests).toEqual([]);
	});

	test('says that this item was not sent, while another was', async () => {
		const { outputs } = await account.run(
			pixParameters(account.sandbox, { customerEmail: '={{ $json.email }}' }),
			{
				settings: { onError: 'continueErrorOutput' },
				items: [{ email: 'maria@example.com' }, { email: 'maria' }],
			},
		);

		expect(outputs[1]?.map(({ json }) => json.error)).toMatchObject([
			{
				message: 'Customer Email is not an e-mail address',
				advice: 'This item was not sent.',
			},
		]);
		expect(account.sandbox.transactions).toHaveLength(1);
	});

	test.each([
		['an expression that fails', { customerName: "={{ $('Nope').item.json.x }}" }],
		['an operation that does not exist', { operation: 'refund' }],
	])('says that it was not sent after %s', async (_name, more) => {
		const { json } = await account.run(pixParameters(account.sandbox, more), {
			continueOnFail: true,
			items: [{ row: 1 }, { row: 2 }],
		});

		expect(json.map((item) => errorIn(item).outcome)).toEqual(['notSent', 'notSent']);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('leaves by the error output with all items of the run if the credential cannot be used', async () => {
		const domains = { allowedHttpRequestDomains: 'domains', allowedDomains: 'example.com' };
		const run = await account.run(pixParameters(account.sandbox), {
			settings: { onError: 'continueErrorOutput' },
			credentials: account.credentialsWith(domains),
			items: [{ row: 1 }, { row: 2 }],
		});

		// A workflow would deliver the items of the first output as if they were paid.
		expect(run.outputs[0]).toEqual([]);
		expect(run.outputs[1]?.map(({ json }) => json)).toMatchObject([
			{ row: 1, error: { outcome: 'notSent' } },
			{ row: 2, error: { outcome: 'notSent' } },
		]);
		expect(account.sandbox.requests).toEqual([]);
	});

	test('describes the charge as it was sent, with Custom Fields', async () => {
		account.fault('charge', { kind: 'resetAfterProcessing' });
		const customFields = '{"amount": 500, "customer": {"document": "11144477735"}}';
		const nobody = { customerName: '', customerEmail: '', customerPhone: '', customerDocument: '' };

		const { json } = await account.run(
			pixParameters(account.sandbox, { ...nobody, additionalFields: { customFields } }),
			{ continueOnFail: true },
		);

		expect(errorIn(json[0]).about).toMatch(/^cart .*; amount R\$ 5,00; .* ending in 7735$/);
	});

	test('has an unknown outcome, and advice on what to do, if an earlier attempt may have charged', async () => {
		account.fault('charge', { kind: 'resetAfterProcessing' });
		const parameters = pixParameters(account.sandbox);
		const options = { continueOnFail: true, workflowId: 'doubtful', mode: 'trigger' } as const;
		const first = await account.run(parameters, options);
		const second = await account.run(parameters, options);

		expect(errorIn(first.json[0]).outcome).toBe('unknown');
		expect(errorIn(second.json[0])).toMatchObject({
			message: 'The customer may already have been charged, so this item was not sent',
			advice: expect.stringContaining('Options > Charges in Doubt'),
			outcome: 'unknown',
			status: null,
			about: expect.stringContaining('customer document ending in'),
		});
	});

	test('of an order with another amount has an unknown outcome: for others the recipes say "Nothing was charged"', async () => {
		const options = { continueOnFail: true, workflowId: 'repeated' } as const;
		const more = { orderReference: 'order-1' };
		const additionalFields = { customFields: { amount: 5000 } };
		await account.run(pixParameters(account.sandbox, more), options);
		const again = pixParameters(account.sandbox, { ...more, additionalFields });

		expect(errorIn((await account.run(again, options)).json[0]).outcome).toBe('unknown');
	});
});
