import type { INodeTypeDescription } from 'n8n-workflow';
import { DigitalSalesTrigger } from '../../../nodes/DigitalSales/DigitalSalesTrigger.node';
import { action, CHOOSERS } from '../../helpers/forms';

const trigger = new DigitalSalesTrigger().description;

test('The nodes keep the names that saved workflows contain', () => {
	const names = ({ name, version, group, displayName, defaults }: INodeTypeDescription) => [
		...[name, version, group, displayName, defaults.name],
	];
	expect([names(action), names(trigger)]).toEqual([
		['digitalSales', 1, ['transform'], 'Digital Sales', 'Digital Sales'],
		['digitalSalesTrigger', 2, ['trigger'], 'Digital Sales Trigger', 'Digital Sales Trigger'],
	]);
});

describe.each<[string, INodeTypeDescription]>([
	['action', action],
	['trigger', trigger],
])('The %s node', (kind, node) => {
	test('says in the node panel what it does', () => {
		expect(node.description).toMatch(/^[A-Z].*PIX/);
		expect(node.description).toMatch(/products/);
	});

	test('needs the credential, which n8n can test', () => {
		expect(node.credentials).toEqual([
			{ name: 'digitalSalesApi', required: true, testedBy: 'digitalSalesApiTest' },
		]);
	});

	test('tells AI builders to deliver after the output Paid', () => {
		expect(node.builderHint?.searchHint).toMatch(/deliver after its (second )?output,? Paid/);
	});

	test('has the inputs and outputs of its kind', () => {
		expect(node.inputs).toEqual(kind === 'action' ? ['main'] : []);
		const outputsOf = (operation: string): unknown =>
			typeof node.outputs === 'string'
				? new Function('$parameter', `return ${node.outputs.slice(3, -2)}`)({ operation })
				: node.outputs;
		const named = ['Not Paid', 'Paid'].map((displayName) => ({ type: 'main', displayName }));
		expect(outputsOf('create')).toEqual(['main']);
		expect(outputsOf('waitForPayment')).toEqual(kind === 'action' ? named : ['main']);
	});
});

test('the form of the action node opens with the charge, which the node panel lists first', () => {
	const choosers = action.properties.filter(({ name }) => CHOOSERS.includes(name));

	expect(
		choosers.map(({ default: initial, options = [], noDataExpression }) => [
			initial,
			options.map((option) => 'value' in option && option.value)[0],
			noDataExpression,
		]),
	).toEqual([
		['transaction', 'transaction', true],
		['create', 'create', true],
		['getAll', 'getAll', true],
		['create', 'create', true],
	]);
});

test('The action node says what it waits for', () => {
	expect(action.waitingNodeTooltip).toContain('Waiting for the payment');
});

describe('The trigger while it listens', () => {
	test('receives webhooks at its own path', () => {
		const webhooks = trigger.webhooks ?? [];
		expect(
			webhooks.map(({ name, httpMethod, ndvHideUrl }) => [name, httpMethod, ndvHideUrl]),
		).toEqual([
			['default', 'POST', undefined],
			['setup', 'GET', true],
			['setup', 'HEAD', true],
		]);
		for (const { path, responseMode, responseData } of webhooks) {
			expect([path, responseMode, responseData]).toEqual(['digital-sales', 'onReceived', 'noData']);
		}
	});

	test('says what it waits for and how to try it, before and after publishing', () => {
		const { triggerPanel } = trigger;
		if (typeof triggerPanel !== 'object') throw new Error('There is no panel');
		const { header, executionsHelp, activationHint } = triggerPanel;
		if (typeof executionsHelp !== 'object') throw new Error('One text for both states');

		expect(header).toBe('Try it with a past sale: Test With Transaction');
		expect(trigger.eventTriggerDescription).toBe('Waiting for a webhook from the platform');
		for (const text of [executionsHelp.inactive, executionsHelp.active]) {
			expect(text).toContain('Test With Transaction');
			expect(text).toContain('press <b>Execute step</b>');
			expect(text).toContain('production URL');
			expect(text).not.toContain('curl');
		}
		expect(executionsHelp.inactive).toContain('publish the workflow');
		expect(executionsHelp.active).toContain('arrive automatically');
		expect(activationHint).toContain('Publish the workflow');
		expect(trigger.activationMessage).toContain('production URL');
	});
});
