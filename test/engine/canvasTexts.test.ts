import { createRunExecutionData, type INode, type INodeParameters } from 'n8n-workflow';
import { ACTION_TYPE, TRIGGER_TYPE } from '../helpers/engine';
import { everyOperation } from '../helpers/samples';
import { StoredWorkflow } from '../helpers/engine/engine';

const NAME = 'The node';

/** Evaluates the expressions of a node's description as the editor does. */
function editorOf(type: string, parameters: INodeParameters) {
	const stored = new StoredWorkflow({ nodes: [{ name: NAME, type, parameters }] });
	const workflow = stored.load();
	const { description } = stored.nodeTypes.getByName(type);
	return { node: workflow.getNode(NAME) as INode, expression: workflow.expression, description };
}

function subtitle(type: string, parameters: INodeParameters): unknown {
	const { node, expression, description } = editorOf(type, parameters);
	return expression.getSimpleParameterValue(node, description.subtitle, 'internal', {});
}

/** The hints of the output panel before the node has run, for a number of input items. */
function hints(parameters: INodeParameters, items: number): string[] {
	const { expression, description } = editorOf(ACTION_TYPE, parameters);
	const input = Array.from({ length: items }, () => ({ json: {} }));
	const data = createRunExecutionData();
	const resultOf = (condition: string): unknown =>
		expression.getParameterValue(condition, data, 0, 0, NAME, input, 'manual', {});
	return (description.hints ?? [])
		.filter(({ displayCondition = '' }) => {
			const isShown = resultOf(displayCondition);
			expect(typeof isShown).toBe('boolean');
			return isShown;
		})
		.map(({ message }) => message);
}

describe('Under the node on the canvas', () => {
	test.each(everyOperation())('the subtitle names $label', ({ resource, value, label }) => {
		expect(subtitle(ACTION_TYPE, { resource, operation: value })).toBe(label.replace(' >', ':'));
	});

	test.each([
		[['paid'], 'on paid'],
		[['paid', 'reversed'], 'on paid, refunded'],
		[['any'], 'on any status change'],
		[['failed', 'waiting', 'other'], 'on refused, waiting for payment, selected statuses'],
	])('the subtitle of a trigger on %j is "%s"', (triggerOn, expected) => {
		expect(subtitle(TRIGGER_TYPE, { triggerOn })).toBe(expected);
	});
});

describe('Before several items run through the node', () => {
	test.each([
		['transaction', 'create', 'Charges a customer for each input item.'],
		['offer', 'create', 'Creates one offer for each input item.'],
	])('%s %s shows a hint about what each item does', (resource, operation, expected) => {
		expect(hints({ resource, operation }, 2)).toEqual([expect.stringContaining(expected)]);
		expect(hints({ resource, operation }, 1)).toEqual([]);
	});

	test.each([
		['transaction', 'get'],
		['product', 'getAll'],
	])('%s %s shows no hint', (resource, operation) => {
		expect(hints({ resource, operation }, 50)).toEqual([]);
	});
});
