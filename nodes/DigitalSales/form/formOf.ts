import get from 'lodash/get';
import set from 'lodash/set';
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

/**
 * A field of a form stands in one place: what n8n shows, how it is read, and its name in the body of
 * the request. The form that n8n gets, the schema, the body and the labels in errors follow from it:
 *
 *     const offerForm = formOf([
 *       text({ displayName: 'Title', name: 'title', description: 'The name of the offer', sentAs: 'title' }),
 *       group({ displayName: 'Additional Fields', name: 'additionalFields' }, [...]),
 *     ]);
 *     offerForm.properties                                   // what n8n shows
 *     const values = readForm(context, itemIndex, offerForm) // { title, additionalFields }, checked
 *     offerForm.body(values)                                 // what is sent
 *
 * A field is made by {@link field}, a collection by {@link group}, one with any number of entries by
 * {@link list}; fields.ts has the usual fields and ways to read one, outputOptions.ts and locators.ts
 * those that several forms share.
 */

/** The parameters by the service's field names, both dotted and with `*` for an index. */
type ServiceFields = Readonly<Record<string, string>>;

/**
 * Of a field in which an expression must give something: it decides who pays what, or guards against a
 * second charge, where even the model of an agent has to fill in something. Or of one that says what a
 * person has seen, which no model may fill in.
 */
export type Weight = 'decides' | 'guards' | 'seen';

/** What becomes of a field beside what n8n shows of it. */
export interface Use {
	/**
	 * Its name in the body, dotted if it is nested; without one it is not sent. Blanks are left out.
	 */
	sentAs?: string;
	weight?: Weight;
}

/** A field, or a collection of fields. */
export interface Field<N extends string = string, T = unknown> {
	name: N;
	properties: INodeProperties[];
	schema: z.ZodType<T, z.ZodTypeDef, unknown>;
	serviceFields: ServiceFields;
	/** The fields with a weight, dotted and with `*` for an index. */
	weights: Readonly<Record<string, Weight>>;
	/** Writes what was read into the body of the request; blanks are left out. */
	write: (value: unknown, body: IDataObject) => void;
}

export type Notice = INodeProperties & { type: 'notice' };

type Part = Field | Notice;
type Collection<N extends string> = Omit<INodeProperties, 'type' | 'default'> &
	Pick<Use, 'sentAs'> & { name: N };
type Values<P extends Part> = {
	[F in Extract<P, Field> as F['name']]: F extends Field<string, infer T> ? T : never;
};

/** What is wrong with fields that are valid one by one; `path` names the field to change. */
type Check<T> = (values: T) => Array<{ path: [keyof T & string]; message: string }>;

export type FormValues<F> = F extends Form<infer T> ? T : never;

export interface Form<T> extends Omit<Field<string, T>, 'name'> {
	body: (values: T) => IDataObject;
}

/** One field: what n8n shows, how it is read, and what becomes of it. */
export function field<const N extends string, S extends z.ZodTypeAny>(
	spec: INodeProperties & Use & { name: N; reads: S },
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
			if (sentAs !== undefined) put(body, sentAs, value);
		},
	};
}

/** A collection. In the body it is an object, or without `sentAs` its fields stand in the body directly. */
export function group<const N extends string, P extends Part>(
	{ sentAs, ...property }: Collection<N>,
	parts: readonly P[],
): Field<N, Values<P>> {
	const { name } = property;
	const inner = formOf(parts);
	return {
		name,
		properties: [{ ...property, type: 'collection', default: {}, options: inner.properties }],
		schema: inner.schema.default({}),
		serviceFields: {
			...(sentAs !== undefined && { [sentAs]: name }),
			...within(inner.serviceFields, sentAs, name),
		},
		weights: under(name, inner.weights),
		write(value, body) {
			if (sentAs === undefined) inner.write(value, body);
			else put(body, sentAs, written(inner, value));
		},
	};
}

/** A fixed collection with any number of entries, read as a list. */
export function list<const N extends string, P extends Part>(
	{ sentAs, opensWithEntry = false, ...property }: Collection<N> & { opensWithEntry?: boolean },
	entry: { displayName: string; name: string; parts: readonly P[] },
): Field<N, Array<Values<P>>> {
	const { name } = property;
	const inner = formOf(entry.parts);
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
						...within(inner.serviceFields, `${sentAs}.*`, `${name}.${key}.*`),
					},
		weights: under(`${name}.${key}.*`, inner.weights),
		write(value, body) {
			if (sentAs === undefined || !Array.isArray(value)) return;
			const sent = value.map((one) => written(inner, one));
			put(body, sentAs, sent);
		},
	};
}

/** A form of these fields, in their order; `check` compares fields with each other. */
export function formOf<P extends Part>(
	parts: readonly P[],
	check?: Check<Values<P>>,
): Form<Values<P>> {
	const all: readonly Part[] = parts;
	const fields = all.filter(isField);
	const inner = {
		properties: all.flatMap((part) => (isField(part) ? part.properties : part)),
		schema: schemaOf(fields, check),
		serviceFields: Object.assign({}, ...fields.map(({ serviceFields }) => serviceFields)),
		weights: Object.assign({}, ...fields.map(({ weights }) => weights)),
		write(values: unknown, body: IDataObject) {
			for (const one of fields) one.write(get(values, one.name), body);
		},
	};
	return { ...inner, body: (values) => written(inner, values) };
}

function isField(part: Part): part is Field {
	return 'schema' in part;
}

function schemaOf<T>(
	fields: readonly Field[],
	check: Check<T> | undefined,
): z.ZodType<T, z.ZodTypeDef, unknown> {
	const shape = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
	// `Values` says that these values are a T; TypeScript cannot follow it here.
	const values = z.custom<T>();
	if (!check) return z.object(shape).pipe(values);
	const checked = values.superRefine((all, context) => {
		for (const problem of check(all)) context.addIssue({ code: 'custom', ...problem });
	});
	return z.object(shape).pipe(checked);
}

function within(fields: ServiceFields, sentAs: string | undefined, name: string): ServiceFields {
	const prefix = sentAs === undefined ? '' : `${sentAs}.`;
	return Object.fromEntries(
		Object.entries(fields).map(([key, parameter]) => [prefix + key, `${name}.${parameter}`]),
	);
}

function under(name: string, weights: Field['weights']): Field['weights'] {
	return Object.fromEntries(
		Object.entries(weights).map(([path, weight]) => [`${name}.${path}`, weight]),
	);
}

function written(inner: Pick<Field, 'write'>, values: unknown): IDataObject {
	const body: IDataObject = {};
	inner.write(values, body);
	return body;
}

/** Writes a value, unless it is blank. */
function put(body: IDataObject, sentAs: string, value: unknown): void {
	const isBlank = value === undefined || value === null;
	if (isBlank || (typeof value === 'object' && Object.keys(value).length === 0)) return;
	set(body, sentAs, value);
}
