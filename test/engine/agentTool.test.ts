import type { IDataObject, INodeParameters, INodeProperties } from 'n8n-workflow';
import { recipeOf } from '../../examples/source';
import { render } from '../../examples/source/workflow';
import { DigitalSales } from '../../nodes/DigitalSales/DigitalSales.node';
import { useAccount } from '../helpers/account';
import { everyProperty } from '../helpers/forms';
import { callTool, toolArguments, type ToolRun } from '../helpers/tool';

const KINDS: Partial<Record<INodeProperties['type'], string>> = {
	string: 'string',
	number: 'number',
	boolean: 'boolean',
	json: 'json',
	resourceLocator: 'string',
};

describe('The node as a tool of an AI agent', () => {
	const account = useAccount();

	const { properties } = new DigitalSales().description;
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
			properties.filter(
				({ displayOptions }) =>
					displayOptions?.show?.resource?.includes(resource) &&
					displayOptions.show.operation?.includes(operation),
			),
		).map(({ property }) => property);
	/** The fields of an operation with these names, all left to the model. */
	const leftTo = (resource: string, operation: string, ...names: string[]) =>
		Object.fromEntries(
			names.map((name) => {
				const found = fields(resource, operation).find((property) => property.name === name);
				if (!found) throw new Error(`No field ${name}`);
				return [name, fromModel(found)];
			}),
		);

	describe('explains every field that a model may fill', () => {
		const operations = properties
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
		const parameters = {
			resource: 'product',
			operation: 'getAll',
			...leftTo('product', 'getAll', 'limit'),
			filters: leftTo('product', 'getAll', 'search'),
		};
		const hash = account.sandbox.products[9]?.hash ?? '';
		const { answers, errors, description } = await call(
			parameters,
			{ limit: 2, search: '' },
			{ limit: 5, search: hash },
		);

		expect(errors).toEqual([]);
		expect(description).toBe('Get many products in Digital Sales');
		expect(answers.map((rows) => rows.length)).toEqual([2, 1]);
		expect(answers[1]).toMatchObject([{ product_hash: hash }]);
	});

	test('creates an offer', async () => {
		const parameters = {
			resource: 'offer',
			operation: 'create',
			...leftTo('offer', 'create', 'productHash', 'title', 'price'),
		};
		const productHash = account.sandbox.products[0]?.hash ?? '';
		const { answers, errors } = await call(parameters, {
			productHash,
			title: 'Oferta',
			price: '19,90',
		});

		expect(errors).toEqual([]);
		expect(answers).toMatchObject([[{ title: 'Oferta', price_reais: 19.9 }]]);
	});

	test('does not read the hash of the item that the agent was started with', async () => {
		const { errors } = await callTool({ resource: 'transaction', operation: 'get' }, [{}], {
			credentials: account.credentials,
			start: { name: 'Chat', json: { hash: 'ab12' } },
		});

		expect(errors.join()).toContain('Transaction Hash is not filled in by the agent');
		expect(account.sandbox.requests).toEqual([]);
	});

	test('sells an offer of the catalog once in a chat, in the recipe of a sales assistant', async () => {
		const { nodes } = render(recipeOf('ai-sales-assistant'), 'ai-sales-assistant', 'en');
		/** The first row of what the tool of that name answers. */
		const use = async (name: string, call: IDataObject): Promise<IDataObject | undefined> => {
			const { parameters = {} } = nodes.find((node) => node.name === name) ?? {};
			const { answers, errors } = await callTool(parameters, [call], {
				credentials: account.credentials,
				workflowId: 'assistant',
				start: { name: 'When a customer writes', json: { sessionId: 'chat1' } },
			});
			expect(errors).toEqual([]);
			return answers[0]?.[0];
		};
		const row = await use('List the products', { search: '' });
		const charge = {
			offer_hash: row?.offer_hash,
			quantity: 1,
			customer_name: 'Maria da Silva',
			customer_email: 'maria@example.com',
			customer_phone: '(11) 91234-5678',
			customer_document: '529.982.247-25',
		};
		const first = await use('Charge by PIX', charge);
		const again = await use('Charge by PIX', { ...charge, customer_name: 'Maria Silva' });
		await account.sandbox.pay(String(first?.hash));
		const paid = await use('Check the payment', { transaction_hash: first?.hash });

		expect(account.sandbox.charges()).toBe(1);
		expect(first).toMatchObject({ amount_reais: row?.price_reais });
		expect(first?.pix_qr_code).toMatch(/^000201/);
		expect(again?.hash).toBe(first?.hash);
		expect(paid).toMatchObject({ hash: first?.hash, payment_status: 'paid' });
	});
});
