import { cloneDeep, get, set } from 'lodash';
import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { everyProperty } from '../../engine/support/form';
import { action, CHOOSERS, FORMS, type Form } from './forms';

/** What a person has chosen, by the path of the field; everything else is as the form opens. */
type Choices = Readonly<Record<string, unknown>>;

/** The paths of the fields that the editor shows then, by n8n's own rules. */
function shownFields({ chosenBy, properties, description }: Form, choices: Choices): string[] {
	const values: INodeParameters = { ...chosenBy };
	for (const { name, default: initial } of properties) set(values, name, cloneDeep(initial));
	for (const [path, value] of Object.entries(choices)) set(values, path, value);
	const visit = (fields: INodeProperties[], local: INodeParameters, within: string): string[] =>
		fields
			.filter((property) =>
				NodeHelpers.displayParameter(local, property, { typeVersion: 1 }, description, values),
			)
			.flatMap((property) => [within + property.name, ...inside(property, within + property.name)]);
	const inside = (property: INodeProperties, path: string): string[] =>
		(property.options ?? []).flatMap((option) => {
			if ('values' in option) {
				const group = `${path}.${option.name}`;
				const initial = option.values.map((field) => [field.name, field.default]);
				const chosen = get(values, group, {}) as INodeParameters;
				return visit(option.values, { ...Object.fromEntries(initial), ...chosen }, `${group}.`);
			}
			// A collection holds only what was added to it.
			return 'type' in option
				? visit([option], get(values, path, {}) as INodeParameters, `${path}.`)
				: [];
		});
	return visit(properties, values, '');
}

/** Each value of each field on which another one depends, and the form as it opens. */
function everyChoice({ properties }: Form): Choices[] {
	const fields = everyProperty(properties);
	const deciding = fields.flatMap(({ path, property: { displayOptions = {} } }) =>
		Object.keys({ ...displayOptions.show, ...displayOptions.hide })
			.filter((name) => !CHOOSERS.includes(name))
			.map((name) => (name.startsWith('/') ? name.slice(1) : path.replace(/[^.]+$/, '') + name)),
	);
	const choices = [...new Set(deciding)].flatMap((path) => {
		const property = fields.find((field) => field.path === path)?.property;
		if (!property) throw new Error(`Something is shown depending on ${path}, which does not exist`);
		return valuesOf(property).map((value) => ({ [path]: value }));
	});
	return [{}, ...choices];
}

function valuesOf({ type, options = [] }: INodeProperties): unknown[] {
	if (type === 'boolean') return [true, false];
	return options.flatMap((option) => ('value' in option ? [option.value] : []));
}

test('no field of the action node belongs to no operation', () => {
	const ofOperations = FORMS.flatMap(({ properties }) => properties);
	const others = action.properties.filter((property) => !ofOperations.includes(property));

	expect(new Set(others.map(({ name }) => name))).toEqual(new Set(CHOOSERS));
});

describe.each(FORMS)('$name', (form) => {
	test('shows every field for some choice', () => {
		const shown = everyChoice(form).flatMap((choices) => shownFields(form, choices));

		expect(new Set(shown)).toEqual(new Set(everyProperty(form.properties).map(({ path }) => path)));
	});

	test.each(everyChoice(form))('shows no field twice for %j', (choices) => {
		const shown = shownFields(form, choices);

		expect(shown.filter((path, index) => shown.indexOf(path) !== index)).toEqual([]);
	});

	test.each(everyChoice(form))('shows every amount, in one unit, for %j', (choices) => {
		const amounts = everyProperty(form.properties)
			.filter(({ property }) => / in (Cents|Reais)$/.test(property.displayName))
			.map(({ path }) => path);

		expect(shownFields(form, choices)).toEqual(expect.arrayContaining(amounts));
	});
});
