import type { INodeProperties, NodeHint } from 'n8n-workflow';
import { createOfferOperation } from './offer/create.operation';
import type { Operation, Resource } from './operation';
import { getAllProducts } from './product/getAll.operation';
import { createTransactionOperation } from './transaction/create.operation';
import { getTransactionOperation } from './transaction/get.operation';
import { waitForPaymentOperation } from './transaction/waitForPayment.operation';

/** In the order of the node panel: most people come to charge. */
const RESOURCES: Resource[] = [
	{
		name: 'Transaction',
		value: 'transaction',
		operations: [createTransactionOperation, getTransactionOperation, waitForPaymentOperation],
	},
	{ name: 'Product', value: 'product', operations: [getAllProducts] },
	{ name: 'Offer', value: 'offer', operations: [createOfferOperation] },
];

export function findOperation(resource: string, operation: string): Operation | undefined {
	return RESOURCES.find(({ value }) => value === resource)?.operations.find(
		({ value }) => value === operation,
	);
}

/** Shows the chosen operation under the node: `Transaction: Create PIX`. */
export function subtitleExpression(): string {
	const choices = Object.fromEntries(
		RESOURCES.flatMap(({ name, value, operations }) =>
			operations.map((operation) => [`${value} ${operation.value}`, `${name}: ${operation.name}`]),
		),
	);
	return `={{ (${JSON.stringify(choices)})[$parameter["resource"] + " " + $parameter["operation"]] }}`;
}

export function manyItemsHints(): NodeHint[] {
	return RESOURCES.flatMap(({ value, operations }) =>
		operations.flatMap(({ value: operation, manyItemsHint }): NodeHint[] => {
			if (manyItemsHint === undefined) return [];
			const isChosen = `$parameter["resource"] === "${value}" && $parameter["operation"] === "${operation}"`;
			return [
				{
					message: manyItemsHint,
					displayCondition: `={{ ${isChosen} && $input.all().length > 1 }}`,
					whenToDisplay: 'beforeExecution',
					location: 'outputPane',
				},
			];
		}),
	);
}

export function formProperties(): INodeProperties[] {
	return [
		{
			displayName: 'Resource',
			name: 'resource',
			type: 'options',
			noDataExpression: true,
			options: RESOURCES.map(({ name, value }) => ({ name, value })),
			default: 'transaction',
		},
		...RESOURCES.flatMap((resource) => [
			operationField(resource),
			...resource.operations.flatMap((operation) =>
				operation.form.properties.map((property) => showFor(resource, operation, property)),
			),
		]),
	];
}

function operationField({ value, operations }: Resource): INodeProperties {
	const [{ value: first }] = operations;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options: operations.map(({ name, value: operation, action, description }) => ({
			name,
			value: operation,
			action,
			description,
		})),
		default: first,
	};
}

function showFor(
	resource: Resource,
	operation: Operation,
	property: INodeProperties,
): INodeProperties {
	return {
		...property,
		displayOptions: {
			...property.displayOptions,
			show: {
				resource: [resource.value],
				operation: [operation.value],
				...property.displayOptions?.show,
			},
		},
	};
}
