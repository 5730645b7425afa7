import { pick, startCase } from 'lodash';
import type { ExpressionString, INodeProperties, NodeHint } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { createOfferOperation } from './offer/create.operation';
import { type Operation, RESOURCES } from './operation';
import { getAllProducts } from './product/getAll.operation';
import { createTransactionOperation } from './transaction/create.operation';
import { getTransactionOperation } from './transaction/get.operation';
import { waitForPaymentOperation } from './transaction/waitForPayment.operation';

/* Which operations there are, and what the canvas and the node panel show of them. */

/** In the order of the node panel. Most people come to charge. The form opens with the first operation of a resource. */
const OPERATIONS: Operation[] = [
	createTransactionOperation,
	getTransactionOperation,
	waitForPaymentOperation,
	getAllProducts,
	createOfferOperation,
];

export function findOperation(resource: string, value: string): Operation | undefined {
	return OPERATIONS.find(
		(operation) => operation.resource === resource && operation.value === value,
	);
}

/** Under the node: `Transaction: Create PIX`. */
export function subtitleExpression(): string {
	const subtitles = OPERATIONS.map(({ resource, value, name }) => [
		`${resource} ${value}`,
		`${startCase(resource)}: ${name}`,
	]);

	return `={{ (${JSON.stringify(Object.fromEntries(subtitles))})[$parameter["resource"] + " " + $parameter["operation"]] }}`;
}

/** n8n evaluates it on the canvas and in each run. */
export function outputsExpression(): ExpressionString {
	const type = NodeConnectionTypes.Main;
	const { value, outputs } = waitForPaymentOperation;
	const named = outputs.names.map((displayName) => ({ type, displayName }));

	return `={{ $parameter["operation"] === "${value}" ? ${JSON.stringify(named)} : ["${type}"] }}`;
}

export function manyItemsHints(): NodeHint[] {
	return OPERATIONS.flatMap(({ resource, value, manyItemsHint }): NodeHint[] => {
		if (manyItemsHint === undefined) return [];

		const isChosen = `$parameter["resource"] === "${resource}" && $parameter["operation"] === "${value}"`;
		const hint: NodeHint = {
			message: manyItemsHint,
			displayCondition: `={{ ${isChosen} && $input.all().length > 1 }}`,
			whenToDisplay: 'beforeExecution',
			location: 'outputPane',
		};
		return [hint];
	});
}

export function formProperties(): INodeProperties[] {
	const resourceField: INodeProperties = {
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: RESOURCES.map((value) => ({ name: startCase(value), value })),
		default: 'transaction',
	};

	return [resourceField, ...RESOURCES.map(operationField), ...OPERATIONS.flatMap(formFields)];
}

function operationField(resource: string): INodeProperties {
	const operations = OPERATIONS.filter((operation) => operation.resource === resource);
	const initial = operations[0]?.value;

	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options: operations.map((operation) =>
			pick(operation, ['name', 'value', 'action', 'description']),
		),
		default: initial,
	};
}

function formFields({ resource, value, form }: Operation): INodeProperties[] {
	return form.properties.map((property) => {
		const { displayOptions } = property;
		const show = { resource: [resource], operation: [value], ...displayOptions?.show };
		return { ...property, displayOptions: { ...displayOptions, show } };
	});
}
