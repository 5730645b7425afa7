import { cloneDeep, difference, get, set } from 'lodash';
import { type INodeParameters, type INodeProperties, NodeHelpers } from 'n8n-workflow';
import { z } from 'zod';
import { offerForm } from '../../../nodes/DigitalSales/actions/offer/create.form';
import { chargeForm } from '../../../nodes/DigitalSales/actions/transaction/create.form';
import { offerSchema, orderSchema } from '../../sandbox/api/checks';
import { action, CHOOSERS, everyProperty, type Form, FORMS } from '../../helpers/forms';

/** The values that a person has chosen, by the path of the field. Other fields have their defaults. */
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

/** The defaults of the form, and each value of each field on which another field depends. */
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

test('every field of the action node belongs to an operation', () => {
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

/** The fields of a body, dotted; entries of a list have no number. */
function fieldsIn(schema: z.ZodTypeAny, path: string[] = []): string[] {
	if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
		return fieldsIn(schema.unwrap(), path);
	}
	if (schema instanceof z.ZodArray) return fieldsIn(schema.element, path);
	const own = path.length > 0 ? [path.join('.')] : [];
	if (!(schema instanceof z.ZodObject)) return own;
	const fields = Object.entries<z.ZodTypeAny>(schema.shape);
	return [...own, ...fields.flatMap(([name, inner]) => fieldsIn(inner, [...path, name]))];
}

const BODY_FIELDS = [offerSchema(false), orderSchema(() => true)].flatMap((body) => fieldsIn(body));

test.each([
	['Offer > Create', offerForm],
	['Create PIX', chargeForm],
])(
	'%s sends only fields of the API document, as test/sandbox/api/checks.ts has them',
	(_name, form) => {
		const sent = form.fields.flatMap(({ sentAs }) => sentAs?.replaceAll('.*', '') ?? []);

		expect(sent.length).toBeGreaterThan(5);
		expect(difference(sent, BODY_FIELDS)).toEqual([]);
	},
);
