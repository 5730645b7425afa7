import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { everyProperty } from '../../engine/support/form';
import { everyOperation } from '../../../support/operations';
import { action, CHOOSERS, FORMS } from './forms';
import { everyChoice, expectedFields, shownFields } from './shown';

/** All that is said of a field beside its label. */
function textOf({ type, displayName, description = '', hint = '' }: INodeProperties): string {
	return type === 'notice' ? displayName : `${description} ${hint}`;
}

function choicesOf({ options = [] }: INodeProperties): unknown[] {
	return options.map((option) => ('value' in option ? option.value : undefined));
}

test('every operation has its table', () => {
	const operations = everyOperation().map(({ resource, value }) => `${resource} ${value}`);
	const tables = FORMS.flatMap(({ table: { chosenBy } }) =>
		'operation' in chosenBy ? [`${chosenBy.resource} ${chosenBy.operation}`] : [],
	);
	const without = operations.filter((name) => !tables.includes(name));

	expect(
		without.map((name) => `write the form of ${name} in tables/ and enter it in forms.ts`),
	).toEqual([]);
	expect(tables.filter((name) => !operations.includes(name))).toEqual([]);
});

test('the form opens with the charge, which the node panel lists first', () => {
	const [resource, ...fields] = action.properties;
	const operations = fields.filter(({ name }) => name === 'operation');

	expect(resource).toMatchObject({ name: 'resource', default: 'transaction' });
	expect(resource && choicesOf(resource)).toEqual([
		'transaction',
		'product',
		'offer',
		'notification',
	]);
	expect(
		operations.map((field) => [field.displayOptions?.show?.resource?.[0], field.default]),
	).toEqual([
		['transaction', 'create'],
		['product', 'getAll'],
		['offer', 'create'],
		['notification', 'getAddress'],
	]);
	for (const field of [resource, ...operations]) expect(field?.noDataExpression).toBe(true);
	for (const field of operations) {
		for (const option of field.options as INodePropertyOptions[]) {
			expect(option.description).toMatch(/^[A-Z].+[^.]$/);
			expect(option.action).toMatch(/^[A-Z][^.]+$/);
		}
	}
});

test('no field of the action node belongs to no operation', () => {
	const ofOperations = FORMS.filter(({ description }) => description === action).flatMap(
		({ properties }) => properties,
	);
	const others = action.properties.filter((property) => !ofOperations.includes(property));

	expect(new Set(others.map(({ name }) => name))).toEqual(new Set(CHOOSERS));
});

describe.each(FORMS.map((form) => ({ name: form.table.name, form })))('$name', ({ form }) => {
	const { table } = form;
	const fields = everyProperty(form.properties);

	test('has the fields of its table, in that order', () => {
		expect(fields.map(({ path }) => path)).toEqual(table.rows.map(({ path }) => path));
	});

	test.each(table.rows.map((row, index) => ({ ...row, index })))(
		'$path is of the type $type, begins with $default and is explained',
		({ index, type, default: initial, says, label, choices, required = false }) => {
			const property = fields[index]?.property;
			if (!property) throw new Error('There is no such field');

			expect(property.type).toBe(type);
			expect(property.default).toEqual(initial);
			expect(property.required ?? false).toBe(required);
			expect(type === 'options' || type === 'multiOptions' ? choicesOf(property) : []).toEqual(
				choices ?? [],
			);
			expect(label ?? property.displayName).toBe(property.displayName);
			const text = textOf(property).trim();
			expect(text).toContain(says ?? '');
			expect(text === '').toBe(says === undefined);
		},
	);

	test.each([{}, ...everyChoice(form)])('shows exactly what belongs there for %j', (choices) => {
		const shown = shownFields(form, choices);

		expect(shown).toEqual(expectedFields(form, choices));
		expect(new Set(shown).size).toBe(shown.length);
		const paths = shown.map((field) => field.split(' ')[0]);
		expect(new Set(paths).size).toBe(paths.length);
	});
});
