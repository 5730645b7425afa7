import { cloneDeep, get, set } from 'lodash';
import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import type { Form } from './forms';
import type { Condition, Row } from './table';

/** What a person has chosen, by the path of the field; everything else is as the form opens. */
export type Choices = Readonly<Record<string, unknown>>;

/** The fields that the editor shows then, by n8n's own rules, in their order: path and label. */
export function shownFields({ table, properties, description }: Form, choices: Choices): string[] {
	const values: INodeParameters = { ...table.chosenBy };
	for (const { path, default: initial } of table.rows) {
		if (!path.includes('.')) set(values, path, cloneDeep(initial));
	}
	for (const [path, value] of Object.entries(choices)) set(values, path, value);
	const isShown = (property: INodeProperties, local: INodeParameters): boolean =>
		NodeHelpers.displayParameter(local, property, { typeVersion: 1 }, description, values);
	const visit = (fields: INodeProperties[], local: INodeParameters, within: string): string[] =>
		fields
			.filter((property) => isShown(property, local))
			.flatMap((property) => {
				const path = within + property.name;
				return [named(path, property.displayName, property.type), ...inside(property, path)];
			});
	const inside = (property: INodeProperties, path: string): string[] =>
		(property.options ?? []).flatMap((option) => {
			if ('values' in option) {
				const group = `${path}.${option.name}`;
				const initial = option.values.map((field) => [field.name, field.default]);
				const chosen = get(values, group, {}) as INodeParameters;
				const local: INodeParameters = { ...Object.fromEntries(initial), ...chosen };
				return visit(option.values, local, `${group}.`);
			}
			// A collection holds only what was added to it.
			return 'type' in option
				? visit([option], get(values, path, {}) as INodeParameters, `${path}.`)
				: [];
		});
	return visit(properties, values, '');
}

/** The same from the table. */
export function expectedFields({ table }: Form, choices: Choices): string[] {
	const rowAt = (path: string): Row | undefined => table.rows.find((row) => row.path === path);
	const holds = (condition: Condition): boolean =>
		Object.entries(condition).every(([path, values]) => {
			// An option that was not added has no value, whatever it would begin with.
			const isOption = path.startsWith('options.');
			const chosen = choices[path] ?? (isOption ? undefined : rowAt(path)?.default);
			return (Array.isArray(chosen) ? chosen : [chosen]).some((value) => values.includes(value));
		});
	return table.rows
		.filter(({ when, unless }) => (!when || holds(when)) && !(unless && holds(unless)))
		.map(({ path, label, type }) => named(path, label, type));
}

/** Each value of each field on which another one depends. */
export function everyChoice({ table }: Form): Choices[] {
	const paths = table.rows.flatMap(({ when, unless }) => Object.keys({ ...when, ...unless }));
	return [...new Set(paths)].flatMap((path) => {
		const field = table.rows.find((row) => row.path === path);
		const values = field?.type === 'boolean' ? [true, false] : (field?.choices ?? []);
		return values.map((value) => ({ [path]: field?.type === 'multiOptions' ? [value] : value }));
	});
}

/** Two faces of one field are told apart by their label. */
function named(path: string, label: string | undefined, type: string): string {
	const unit = /^.* in (Cents|Reais)$/.exec(label ?? '');
	return unit && type === 'string' ? `${path} (${label})` : path;
}
