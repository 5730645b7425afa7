import { createRunExecutionData, Workflow, type INodeParameters } from 'n8n-workflow';
import { ACTION_TYPE, defaultProcess, TRIGGER_TYPE } from './harness';
import { everyOperation } from '../../support/samples';
import { HarnessNodeTypes } from './harness/nodeTypes';

/** A workflow of one node, to work an expression of its description out as the editor does. */
function nodeWith(type: string, parameters: INodeParameters) {
	const node = {
		id: 'node',
		name: 'The node',
		type,
		typeVersion: 1,
		position: [0, 0] as [number, number],
		parameters,
	};
	const nodeTypes = new HarnessNodeTypes(defaultProcess);
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	return { node, workflow, description: nodeTypes.getByName(type).description };
}

function subtitle(type: string, parameters: INodeParameters): unknown {
	const { node, workflow, description } = nodeWith(type, parameters);
	return workflow.expression.getSimpleParameterValue(node, description.subtitle, 'internal', {});
}

/** What the output panel says before the node has run with so many items before it. */
function hints(parameters: INodeParameters, items: number): string[] {
	const { node, workflow, description } = nodeWith(ACTION_TYPE, parameters);
	const input = Array.from({ length: items }, () => ({ json: {} }));
	return (description.hints ?? [])
		.filter(({ displayCondition = '' }) => {
			const isShown = workflow.expression.getParameterValue(
				displayCondition,
				createRunExecutionData(),
				0,
				0,
				node.name,
				input,
				'manual',
				{},
			);
			expect(typeof isShown).toBe('boolean');
			return isShown;
		})
		.map(({ message }) => message);
}

describe('Under the node on the canvas', () => {
	test.each(everyOperation())('$label is named', ({ resource, value, label }) => {
		expect(subtitle(ACTION_TYPE, { resource, operation: value })).toBe(label.replace(' >', ':'));
	});

	test.each([
		[['paid'], 'on paid'],
		[['paid', 'reversed'], 'on paid, refunded'],
		[['any'], 'on any status change'],
		[['failed', 'waiting', 'other'], 'on refused, waiting for payment, selected statuses'],
	])('a trigger on %j reads "%s"', (triggerOn, expected) => {
		expect(subtitle(TRIGGER_TYPE, { triggerOn })).toBe(expected);
	});
});

describe('Before several items run through the node', () => {
	test.each([
		['transaction', 'create', 'Charges a customer for each input item.'],
		['offer', 'create', 'Creates one offer for each input item.'],
	])('%s %s says what each of them does', (resource, operation, expected) => {
		expect(hints({ resource, operation }, 2)).toEqual([expect.stringContaining(expected)]);
		expect(hints({ resource, operation }, 1)).toEqual([]);
	});

	test.each([
		['transaction', 'get'],
		['product', 'getAll'],
	])('%s %s has nothing to warn of', (resource, operation) => {
		expect(hints({ resource, operation }, 50)).toEqual([]);
	});
});
