import get from 'lodash/get';
import set from 'lodash/set';
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

/**
 * A field is defined once: what n8n shows, how its value is read, and its name in the request body. The
 * n8n form, the schema, the body and the labels in errors are built from that definition:
 *
 *     const offerForm = defineForm([
 *       textField({ displayName: 'Title', name: 'title', description: 'The name of the offer', sentAs: 'title' }),
 *       defineGroup({ displayName: 'Additional Fields', name: 'additionalFields' }, [...]),
 *     ]);
 *     offerForm.properties                                   // for n8n
 *     const values = readForm(context, itemIndex, offerForm) // { title, additionalFields }, checked
 *     offerForm.body(values)                                 // for the request
 *
 * Common fields and schemas are in fields.ts, and fields that several forms share in locators.ts and outputOptions.ts.
 */

/** From the service's field name to the parameter, both dotted, with `*` for an index. */
type ServiceFields = Readonly<Record<string, string>>;

/**
 * Marks a field whose expression must not be empty.
 * - `decides` who pays what. An agent's model may leave it blank.
 * - `guards` against a second charge. Nobody may leave it blank by an expression.
 * - `byPerson`: a model must not fill it in, because it confirms what a person has checked.
 */
export type Weight = 'decides' | 'guards' | 'byPerson';

/** How a field is used, apart from how n8n displays it. */
export interface FieldUse {
	/** The name in the request body, dotted if nested. A field without a name, or with a blank value, is not sent. */
	sentAs?: string;
	weight?: Weight;
}

/** A field, or a collection of fields. */
export interface Field<N extends string = string, T = unknown> {
	name: N;
	properties: INodeProperties[];
	schema: z.ZodType<T, z.ZodTypeDef, unknown>;
	serviceFields: ServiceFields;
	/** By parameter, dotted, with `*` for an index. */
	weights: Readonly<Record<string, Weight>>;
	/** Writes the value into the request body unless it is blank. */
	write: (value: unknown, body: IDataObject) => void;
}

export type NoticeText = INodeProperties & { type: 'notice' };

type Part = Field | NoticeText;
type Collection<N extends string> = Omit<INodeProperties, 'type' | 'default'> &
	Pick<FieldUse, 'sentAs'> & { name: N };
type Values<P extends Part> = {
	[F in Extract<P, Field> as F['name']]: F extends Field<string, infer T> ? T : never;
};

/** Compares fields that are valid one by one. The `path` of a problem names the field to change. */
type Check<T> = (values: T) => Array<{ path: [keyof T & string]; message: string }>;

export type FormValues<F> = F extends Form<infer T> ? T : never;

export interface Form<T> extends Omit<Field<string, T>, 'name'> {
	body: (values: T) => IDataObject;
}

export function defineField<const N extends string, S extends z.ZodTypeAny>(
	spec: INodeProperties & FieldUse & { name: N; reads: S },
): Field<N, z.output<S>> {
	const { reads, sentAs, weight, ...property } = spec;
	const { name, type } = property;
	return {
		name,
		properties: [property],
		schema: reads,
		serviceFields: {
			...(sentAs !== undefined && { [sentAs]: name }),
			...(sentAs !== undefined && type === 'multiOptions' && { [`${sentAs}.*`]: name }),
		},
		weights: weight ? { [name]: weight } : {},
		write(value, body) {
			if (sentAs !== undefined) setUnlessBlank(body, sentAs, value);
		},
	};
}

/** Defines a collection. With `sentAs` it is an object in the body, otherwise its fields belong to the body itself. */
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
		weights: prefixWeights(name, inner.weights),
		write(value, body) {
			if (sentAs === undefined) inner.write(value, body);
			else setUnlessBlank(body, sentAs, buildBody(inner, value));
		},
	};
}

/** Defines a fixed collection with any number of entries, read as a list. */
export function defineList<const N extends string, P extends Part>(
	{ sentAs, opensWithEntry = false, ...property }: Collection<N> & { opensWithEntry?: boolean },
	entry: { displayName: string; name: string; parts: readonly P[] },
): Field<N, Array<Values<P>>> {
	const { name } = property;
	const inner = defineForm(entry.parts);
	const { displayName, name: key } = entry;
	return {
		name,
		properties: [
			{
				...property,
				type: 'fixedCollection',
				typeOptions: { ...property.typeOptions, multipleValues: true },
				default: opensWithEntry ? { [key]: [{}] } : {},
				options: [{ displayName, name: key, values: inner.properties }],
			},
		],
		schema: z
			.object({ [key]: z.array(inner.schema).default([]) })
			.default({})
			.transform((read) => Object.values(read).flat()),
		serviceFields:
			sentAs === undefined
				? {}
				: {
						[sentAs]: name,
						...prefixServiceFields(inner.serviceFields, `${sentAs}.*`, `${name}.${key}.*`),
					},
		weights: prefixWeights(`${name}.${key}.*`, inner.weights),
		write(value, body) {
			if (sentAs === undefined || !Array.isArray(value)) return;
			const sent = value.map((one) => buildBody(inner, one));
			setUnlessBlank(body, sentAs, sent);
		},
	};
}

/** Defines a form of fields in this order. `check` compares fields with each other. */
export function defineForm<P extends Part>(
	parts: readonly P[],
	check?: Check<Values<P>>,
): Form<Values<P>> {
	const all: readonly Part[] = parts;
	const fields = all.filter(isField);
	const inner = {
		properties: all.flatMap((part) => (isField(part) ? part.properties : part)),
		schema: buildSchema(fields, check),
		serviceFields: Object.assign({}, ...fields.map(({ serviceFields }) => serviceFields)),
		weights: Object.assign({}, ...fields.map(({ weights }) => weights)),
		write(values: unknown, body: IDataObject) {
			for (const one of fields) one.write(get(values, one.name), body);
		},
	};
	return { ...inner, body: (values) => buildBody(inner, values) };
}

function isField(part: Part): part is Field {
	return 'schema' in part;
}

function buildSchema<T>(
	fields: readonly Field[],
	check: Check<T> | undefined,
): z.ZodType<T, z.ZodTypeDef, unknown> {
	const shape = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
	// `Values` guarantees that these values are a T, which TypeScript cannot infer.
	const values = z.custom<T>();
	if (!check) return z.object(shape).pipe(values);
	const checked = values.superRefine((all, context) => {
		for (const problem of check(all)) context.addIssue({ code: 'custom', ...problem });
	});
	return z.object(shape).pipe(checked);
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

function prefixWeights(name: string, weights: Field['weights']): Field['weights'] {
	return Object.fromEntries(
		Object.entries(weights).map(([path, weight]) => [`${name}.${path}`, weight]),
	);
}

function buildBody(inner: Pick<Field, 'write'>, values: unknown): IDataObject {
	const body: IDataObject = {};
	inner.write(values, body);
	return body;
}

function setUnlessBlank(body: IDataObject, sentAs: string, value: unknown): void {
	const isBlank = value === undefined || value === null;
	if (isBlank || (typeof value === 'object' && Object.keys(value).length === 0)) return;
	set(body, sentAs, value);
}
