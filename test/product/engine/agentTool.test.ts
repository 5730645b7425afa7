import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';
import { recipeOf } from '../../../examples/source';
import { render } from '../../../examples/source/workflow';
import { clock } from '../../../nodes/DigitalSales/shared/clock';
import { DigitalSales } from '../../../nodes/DigitalSales/DigitalSales.node';
import { pixParameters, useAccount } from './support/account';
import { everyProperty } from './support/form';
import { callTool, toolArguments, type ToolRun } from './support/tool';

const KINDS: Partial<Record<INodeProperties['type'], string>> = {
	string: 'string',
	number: 'number',
	boolean: 'boolean',
	json: 'json',
	resourceLocator: 'string',
};

describe('The node as a tool of an AI agent', () => {
	const account = useAccount();

	const { description } = new DigitalSales();
	const call = async (parameters: INodeParameters, ...calls: IDataObject[]): Promise<ToolRun> =>
		await callTool(parameters, calls, { credentials: account.credentials });

	/** What the editor writes when a person presses "let the model define this parameter". */
	const fromModel = ({ name, type, description: text = '' }: INodeProperties) => {
		const kind = KINDS[type] ?? 'string';
		const expression = `={{ $fromAI('${name}', \`${text.replace(/`/g, "'")}\`, '${kind}') }}`;
		return type === 'resourceLocator'
			? { __rl: true, mode: 'hash', value: expression }
			: expression;
	};
	const fields = (resource: string, operation: string): INodeProperties[] =>
		everyProperty(
			description.properties.filter(
				({ displayOptions }) =>
					displayOptions?.show?.resource?.includes(resource) &&
					displayOptions.show.operation?.includes(operation),
			),
		).map(({ property }) => property);
	const field = (resource: string, operation: string, name: string) => {
		const found = fields(resource, operation).find((property) => property.name === name);
		if (!found) throw new Error(`No field ${name}`);
		return fromModel(found);
	};

	describe('explains every field that a model may fill', () => {
		const operations = description.properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ displayOptions, options = [] }) =>
				options.map((option): [string, string] => [
					String(displayOptions?.show?.resource?.[0]),
					'value' in option ? String(option.value) : '',
				]),
			);

		test.each(operations)('%s %s', (resource, operation) => {
			const fillable = fields(resource, operation).filter(({ type }) => type in KINDS);
			const parameters = Object.fromEntries(
				fillable.map((property) => [property.name, fromModel(property)]),
			);

			const told = toolArguments(parameters);

			expect(Object.keys(told).sort()).toEqual(
				[...new Set(fillable.map(({ name }) => name))].sort(),
			);
			for (const [name, text] of Object.entries(told)) {
				expect([name, text.length > 5]).toEqual([name, true]);
			}
		});
	});

	test('lists products', async () => {
		const {
			answers,
			errors,
			description: told,
		} = await call(
			{
				resource: 'product',
				operation: 'getAll',
				limit: field('product', 'getAll', 'limit'),
				filters: { search: field('product', 'getAll', 'search') },
			},
			{ limit: 2, search: '' },
			{ limit: 5, search: account.sandbox.products[9]?.hash ?? '' },
		);

		expect(errors).toEqual([]);
		expect(told).toBe('Get many products in Digital Sales');
		expect(answers.map((rows) => rows.length)).toEqual([2, 1]);
		expect(answers[1]).toMatchObject([{ product_hash: account.sandbox.products[9]?.hash }]);
	});

	test('charges without a workflow, as in an Agent of n8n, and refuses what is in doubt', async () => {
		account.fault('charge', { kind: 'resetAfterProcessing', after: 1 });
		const customerDocument = "={{ $fromAI('document', 'CPF', 'string') }}";
		const { answers, errors } = await callTool(
			pixParameters(account.sandbox, { customerDocument }),
			['529.982.247-25', '111.444.777-35', '111.444.777-35'].map((document) => ({ document })),
			{ credentials: account.credentials, workflowId: '' },
		);

		expect(answers).toMatchObject([[{ hash: account.sandbox.transactions[0]?.hash }]]);
		expect(errors).toEqual([
			expect.stringContaining('may already have been charged: '),
			expect.stringContaining('may already have been charged'),
		]);
		expect(account.sandbox.charges()).toBe(2);
	});

	test('creates an offer', async () => {
		const { answers, errors } = await call(
			{
				resource: 'offer',
				operation: 'create',
				productHash: field('offer', 'create', 'productHash'),
				title: field('offer', 'create', 'title'),
				price: field('offer', 'create', 'price'),
			},
			{ productHash: account.sandbox.products[0]?.hash ?? '', title: 'Oferta', price: '19,90' },
		);

		expect(errors).toEqual([]);
		expect(answers).toMatchObject([[{ title: 'Oferta', price_reais: 19.9 }]]);
	});

	const charging = (): INodeParameters => {
		const model = (name: string) => field('transaction', 'create', name);
		return {
			resource: 'transaction',
			operation: 'create',
			cart: {
				items: [
					{ offerHash: model('offerHash'), quantity: model('quantity'), price: model('price') },
				],
			},
			customerName: model('customerName'),
			customerEmail: model('customerEmail'),
			customerPhone: model('customerPhone'),
			customerDocument: model('customerDocument'),
			notify: 'none',
		};
	};
	const order = (): IDataObject => ({
		offerHash: account.sandbox.products[0]?.offers[0]?.hash ?? '',
		quantity: 2,
		price: '',
		customerName: 'Maria da Silva',
		customerEmail: 'maria@example.com',
		customerPhone: '11 91234-5678',
		customerDocument: '529.982.247-25',
	});

	test('charges once where the outcome is unknown and the tool is tried again', async () => {
		account.fault('charge', { kind: 'resetAfterProcessing' });

		const { errors } = await callTool(charging(), [order()], {
			credentials: account.credentials,
			settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 },
		});

		expect(errors.join()).toContain('may already have been charged');
		expect(account.sandbox.charges()).toBe(1);
	});

	test('an equal call gives the existing transaction, in another execution too, for 15 minutes', async () => {
		const { now } = clock;
		const inShop = async (args: IDataObject): Promise<ToolRun> =>
			await callTool(charging(), [args], {
				credentials: account.credentials,
				workflowId: 'a shop with an agent',
			});
		const first = await inShop(order());
		const second = await inShop({ ...order(), customerName: 'M. DA SILVA' });
		clock.now = () => now() + 15 * 60_000;
		const third = await inShop(order());
		clock.now = now;

		expect(second.answers[0]?.[0]?.hash).toBe(first.answers[0]?.[0]?.hash);
		expect(third.answers[0]?.[0]?.hash).not.toBe(first.answers[0]?.[0]?.hash);
		expect(account.sandbox.charges()).toBe(2);
	});

	test('is refused what is in doubt, however the name is spelled', async () => {
		account.fault('charge', { kind: 'resetAfterProcessing' });
		const { errors } = await callTool(
			charging(),
			[order(), { ...order(), customerName: 'M. Silva' }, { ...order(), customerName: 'maria' }],
			{ credentials: account.credentials },
		);

		expect(errors).toHaveLength(3);
		expect(errors[2]).toContain('may already have been charged');
		expect(account.sandbox.charges()).toBe(1);
	});

	test('does not read the hash of the item that the agent was started with', async () => {
		const { errors } = await callTool({ resource: 'transaction', operation: 'get' }, [{}], {
			credentials: account.credentials,
			start: { name: 'Chat', json: { hash: 'ab12' } },
		});

		expect(errors.join()).toContain('Transaction Hash is not filled in by the agent');
		expect(account.sandbox.requests).toEqual([]);
	});

	describe('in the recipe of a sales assistant', () => {
		const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
		const use = async (name: string, ...calls: IDataObject[]): Promise<IDataObject[][]> => {
			const { parameters = {} } = nodes.find((node) => node.name === name) ?? {};
			const { answers, errors } = await callTool(parameters, calls, {
				credentials: account.credentials,
				workflowId: 'assistant',
				start: { name: 'When a customer writes', json: { sessionId: 'chat1' } },
			});
			expect(errors).toEqual([]);
			return answers;
		};

		test('sells an offer of the catalog once in a chat', async () => {
			const [rows] = await use('List the products', { search: '' });
			const [row] = rows ?? [];
			const charge = {
				offer_hash: row?.offer_hash,
				quantity: 1,
				customer_name: 'Maria da Silva',
				customer_email: 'maria@example.com',
				customer_phone: '(11) 91234-5678',
				customer_document: '529.982.247-25',
			};
			const [[first] = []] = await use('Charge by PIX', charge);
			const [[again] = []] = await use('Charge by PIX', {
				...charge,
				customer_name: 'Maria Silva',
			});
			await account.sandbox.pay(String(first?.hash));
			const [[paid] = []] = await use('Check the payment', { transaction_hash: first?.hash });

			expect(account.sandbox.charges()).toBe(1);
			expect(first).toMatchObject({ amount_reais: row?.price_reais });
			expect(first?.pix_qr_code).toMatch(/^000201/);
			expect(again?.hash).toBe(first?.hash);
			expect(paid).toMatchObject({ hash: first?.hash, payment_status: 'paid' });
		});
	});
});
