import { get, mapKeys, merge, set } from 'lodash';
import type { IDataObject, INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import { z } from 'zod/v3';

/**
 * A field is defined once: the display in n8n, the reading of its value, and its name in the request body.
 *
 *     const offerForm = defineForm([
 *       textField({ displayName: 'Title', name: 'title', description: 'The name of the offer', sentAs: 'title' }),
 *       defineGroup({ displayName: 'Additional Fields', name: 'additionalFields' }, [...]),
 *     ]);
 *     offerForm.properties                                   // for n8n
 *     const values = readForm(context, itemIndex, offerForm) // { title, additionalFields }, checked
 *     offerForm.body(values)                                 // for the request
 */

/** Maps fields of the service to parameters. Both names are dotted, with `*` for an index. */
type ServiceFields = Readonly<Record<string, string>>;

/**
 * What a field is for, which restricts its expression.
 * - `decides`: who pays what. No `{{ }}` may be empty, except one that an agent's model fills in.
 * - `guards`: against a second charge. No `{{ }}` may be empty, whoever fills it in.
 * - `json`: like `decides`. A `{{ }}` must not close the JSON string around it, because it would set other fields.
 * - `confirms`: a person has checked something. A model must not fill it in.
 */
export type Purpose = 'decides' | 'json' | 'guards' | 'confirms';

export interface FieldUse {
	/** The service's name, dotted if nested: for the body, and for errors that name the field. */
	sentAs?: string;
	purpose?: Purpose;
}

export interface Field<N extends string = string, T = unknown> {
	name: N;
	properties: INodeProperties[];
	schema: z.ZodType<T, z.ZodTypeDef, unknown>;
	serviceFields: ServiceFields;
	/** By parameter, dotted, with `*` for an index. */
	purposes: Readonly<Record<string, Purpose>>;
	write(value: T, body: IDataObject): void;
}

export type NoticeText = INodeProperties & { type: 'notice' };

type Part = Field | NoticeText;
type Collection<N extends string> = Omit<INodeProperties, 'type' | 'default'> &
	Pick<FieldUse, 'sentAs'> & { name: N };
type Values<P extends Part> = {
	[F in Extract<P, Field> as F['name']]: F extends Field<string, infer T> ? T : never;
};

/** Names and indexes, from the outside in. */
export type Path = Array<string | number>;

export interface Problem {
	path: Path;
	message: string;
}

type Check<T> = (values: T) => Problem[];

export type FormValues<F> = F extends Form<infer T> ? T : never;

export interface Form<T> extends Omit<Field<string, T>, 'name' | 'write'> {
	body(values: T): IDataObject;
}

export function defineField<const N extends string, S extends z.ZodTypeAny>(
	spec: INodeProperties & FieldUse & { name: N; reads: S },
): Field<N, z.output<S>> {
	const { reads, sentAs, purpose, ...property } = spec;
	const { name, type } = property;
	return {
		name,
		properties: [property],
		schema: reads,
		serviceFields: {
			...(sentAs !== undefined && { [sentAs]: name }),
			...(sentAs !== undefined && type === 'multiOptions' && { [`${sentAs}.*`]: name }),
		},
		purposes: purpose ? { [name]: purpose } : {},
		write: (value, body) => setUnlessBlank(body, sentAs, value),
	};
}

/** With `sentAs`, a collection is an object in the body. Otherwise its fields belong to the body itself. */
export function defineGroup<const N extends string, P extends Part>(
	{ sentAs, ...property }: Collection<N>,
	parts: readonly P[],
): Field<N, Values<P>> {
	const { name } = property;
	const inner = defineForm(parts);
	return {
		name,
		properties: [{ ...property, type: 'collection', default: {}, options: inner.properties }],
		schema: inner.schema.default({}),
		serviceFields: {
			...(sentAs !== undefined && { [sentAs]: name }),
			...prefixServiceFields(inner.serviceFields, sentAs, name),
		},
		purposes: mapKeys(inner.purposes, (_purpose, path) => `${name}.${path}`),
		write(value, body) {
			const fields = inner.body(value);
			if (sentAs === undefined) merge(body, fields);
			else setUnlessBlank(body, sentAs, fields);
		},
	};
}

export function defineOptions<P extends Part>(parts: readonly P[]) {
	return defineGroup({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, parts);
}

export function defineList<const N extends string, P extends Part>(
	{
		sentAs,
		default: initial = {},
		...property
	}: Collection<N> & { default?: NodeParameterValueType },
	entryName: string,
	parts: readonly P[],
): Field<N, Array<Values<P>>> {
	const { name } = property;
	const inner = defineForm(parts);
	const entryPath = `${name}.items.*`;
	return {
		name,
		properties: [
			{
				...property,
				type: 'fixedCollection',
				typeOptions: { ...property.typeOptions, multipleValues: true },
				default: initial,
				options: [{ displayName: entryName, name: 'items', values: inner.properties }],
			},
		],
		schema: z
			.object({ items: z.array(inner.schema).default([]) })
			.default({})
			.transform(({ items }) => items),
		serviceFields:
			sentAs === undefined
				? {}
				: {
						[sentAs]: name,
						...prefixServiceFields(inner.serviceFields, `${sentAs}.*`, entryPath),
					},
		purposes: mapKeys(inner.purposes, (_purpose, path) => `${entryPath}.${path}`),
		write: (entries, body) => setUnlessBlank(body, sentAs, entries.map(inner.body)),
	};
}

export function defineForm<P extends Part>(
	parts: readonly P[],
	check: Check<Values<P>> = () => [],
): Form<Values<P>> {
	const all: readonly Part[] = parts;
	const fields = all.filter(isField);
	return {
		properties: all.flatMap((part) => (isField(part) ? part.properties : part)),
		schema: buildSchema(fields, check),
		serviceFields: Object.assign({}, ...fields.map(({ serviceFields }) => serviceFields)),
		purposes: Object.assign({}, ...fields.map(({ purposes }) => purposes)),
		body(values) {
			const body: IDataObject = {};
			for (const { name, write } of fields) write(get(values, name), body);
			return body;
		},
	};
}

function isField(part: Part): part is Field {
	return 'schema' in part;
}

function buildSchema<T>(
	fields: readonly Field[],
	check: Check<T>,
): z.ZodType<T, z.ZodTypeDef, unknown> {
	const shape = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
	// `Values` guarantees that these values are a T, which TypeScript cannot infer.
	const values = z.custom<T>().superRefine((all, context) => {
		for (const problem of check(all)) context.addIssue({ code: 'custom', ...problem });
	});
	return z.object(shape).pipe(values);
}

function prefixServiceFields(
	fields: ServiceFields,
	sentAs: string | undefined,
	name: string,
): ServiceFields {
	const prefix = sentAs === undefined ? '' : `${sentAs}.`;
	return Object.fromEntries(
		Object.entries(fields).map(([key, parameter]) => [prefix + key, `${name}.${parameter}`]),
	);
}

function setUnlessBlank(body: IDataObject, sentAs: string | undefined, value: unknown): void {
	if (sentAs === undefined || value === undefined || value === null) return;
	if (typeof value === 'object' && Object.keys(value).length === 0) return;
	set(body, sentAs, value);
}
