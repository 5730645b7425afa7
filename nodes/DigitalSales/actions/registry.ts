import type { INodeProperties } from 'n8n-workflow';
import { createOfferOperation } from './offer/create.operation';
import type { Operation, Resource } from './operation';
import { getAllProducts } from './product/getAll.operation';
import { createTransactionOperation } from './transaction/create.operation';
import { getTransactionOperation } from './transaction/get.operation';
import { waitForPaymentOperation } from './transaction/waitForPayment.operation';
import { getAddressOperation } from './notification/getAddress.operation';

/** The one list of what the node can do: the form and the routing are both built from it. */
const RESOURCES: Resource[] = [
	{ name: 'Notification', value: 'notification', operations: [getAddressOperation] },
	{ name: 'Offer', value: 'offer', operations: [createOfferOperation] },
	{ name: 'Product', value: 'product', operations: [getAllProducts] },
	{
		name: 'Transaction',
		value: 'transaction',
		operations: [createTransactionOperation, getTransactionOperation, waitForPaymentOperation],
	},
];

/** The operation behind the values of the Resource and Operation fields. */
export function findOperation(resource: string, operation: string): Operation | undefined {
	return RESOURCES.find(({ value }) => value === resource)?.operations.find(
		({ value }) => value === operation,
	);
}

/** The expression that shows the chosen operation under the node, as a sentence. */
export function subtitleExpression(): string {
	const sentences = Object.fromEntries(
		RESOURCES.flatMap(({ value, operations }) =>
			operations.map((operation) => [`${value} ${operation.value}`, operation.action]),
		),
	);
	return `={{ (${JSON.stringify(sentences)})[$parameter["resource"] + " " + $parameter["operation"]] }}`;
}

/** The whole form of the action node. */
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
				operation.properties.map((property) => shownFor(resource, operation, property)),
			),
		]),
	];
}

function operationField({ value, operations }: Resource): INodeProperties {
	const operationOptions = operations.map(({ name, value: operation, action, description }) => ({
		name,
		value: operation,
		action,
		description,
	}));
	const [{ value: first }] = operations;
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [value] } },
		options: operationOptions,
		default: first,
	};
}

function shownFor(
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
