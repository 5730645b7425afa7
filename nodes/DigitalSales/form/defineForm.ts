import { compact, get, isEmpty, merge, omit, set } from 'lodash';
import type { IDataObject, INodeProperties, NodeParameterValueType } from 'n8n-workflow';
import { z } from 'zod/v3';

/**
 * A field is defined once: the display in n8n, the reading of its value, and its name in the request body.
 *
 *     const offerForm = defineForm([
 *       textField('Title', 'title', { description: 'The name of the offer', sentAs: 'title', reads: textSchema }),
 *       defineGroup('Additional Fields', 'additionalFields', { placeholder: 'Add Field' }, [...]),
 *     ]);
 *     offerForm.properties                                            // for n8n
 *     const values = readForm(context, itemIndex, offerForm, addHint) // { title, additionalFields }, checked
 *     offerForm.body(values)                                          // for the request
 */

/**
 * What a field is for, which restricts its expression. Without a purpose, any expression will do.
 * - `decides`: who pays what. No `{{ }}` may be empty, except one that an agent's model fills in.
 * - `guards`: against a second charge. No `{{ }}` may be empty, whoever fills it in.
 * - `json`: like `decides`. A `{{ }}` must not close the JSON string around it, because it would set other fields.
 * - `confirms`: a person has checked something. A model must not fill it in, and no `{{ }}` may be empty.
 * - `informs`: decides nothing. What its schema refuses is left out, with a hint.
 */
export type Purpose = 'decides' | 'json' | 'guards' | 'confirms' | 'informs';

export interface FieldUse {
	/** The platform's name, dotted if nested: for the body, and for errors that name the field. `...` spreads an object. */
	sentAs?: string;
	purpose?: Purpose;
}

type Schema<T> = z.ZodType<T, z.ZodTypeDef, unknown>;

export interface Field<N extends string = string, T = unknown> extends FieldUse {
	name: N;
	property: INodeProperties;
	schema: Schema<T>;
	/** Of a group or list. */
	inner?: Form<unknown>;
	/** The display name of an entry of a list. */
	entryName?: string;
}

/** A property that is no field is only shown. */
type Part = Field | INodeProperties;
type CollectionSpec = Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'default'> &
	Pick<FieldUse, 'sentAs'>;
type Values<P extends Part> = {
	[F in Extract<P, Field> as F['name']]: F extends Field<string, infer T> ? T : never;
};

/** Names and indexes, from the outside in. */
export type Path = z.ZodIssue['path'];

export type Problem = Pick<z.ZodIssue, 'path' | 'message'>;

export type FormValues<F> = F extends Form<infer T> ? T : never;

export interface Form<T> {
	properties: INodeProperties[];
	schema: Schema<T>;
	/** Also those in groups and lists. */
	fields: readonly ListedField[];
	body(values: T): IDataObject;
}

/** Its texts have `*` for an index, such as `sentAs: 'cart.*.price'`. */
interface ListedField extends FieldUse {
	/** Dotted, such as `cart.items.*.price`. */
	path: string;
	/** Such as `Cart > Item * > Price in Reais`. */
	label: string;
}

/** @param spec as n8n describes a field, and how it is used */
export function defineField<const N extends string, S extends z.ZodTypeAny>(
	spec: INodeProperties & FieldUse & { name: N; reads: S },
): Field<N, z.output<S>> {
	const { reads, sentAs, purpose, ...property } = spec;

	return { name: spec.name, property, schema: reads, sentAs, purpose };
}

/** With `sentAs`, a collection is an object in the body. Otherwise its fields belong to the body itself. */
export function defineGroup<const N extends string, P extends Part>(
	displayName: string,
	name: N,
	{ sentAs = '...', ...spec }: CollectionSpec,
	parts: readonly P[],
): Field<N, Values<P>> {
	const own = { displayName, name, ...spec };
	const inner = defineForm(parts);
	const options = inner.properties;

	return {
		name,
		property: { ...own, type: 'collection', default: {}, options },
		schema: inner.schema.default({}),
		sentAs,
		inner,
	};
}

export function defineOptions<P extends Part>(parts: readonly P[]) {
	return defineGroup('Options', 'options', { placeholder: 'Add Option' }, parts);
}

/** @param spec with the display name of an entry */
export function defineList<const N extends string, P extends Part>(
	displayName: string,
	name: N,
	spec: CollectionSpec & { entryName: string; default?: NodeParameterValueType },
	parts: readonly P[],
): Field<N, Array<Values<P>>> {
	const { sentAs, entryName } = spec;
	const own = { displayName, name, ...omit(spec, 'sentAs', 'entryName', 'default') };
	const inner = defineForm(parts);
	const entries = z.object({ items: z.array(inner.schema).default([]) }).default({});

	return {
		name,
		property: {
			...own,
			type: 'fixedCollection',
			typeOptions: { ...spec.typeOptions, multipleValues: true },
			default: spec.default ?? {},
			options: [{ displayName: entryName, name: 'items', values: inner.properties }],
		},
		schema: entries.transform(({ items }) => items),
		sentAs,
		inner,
		entryName,
	};
}

export function defineForm<P extends Part>(parts: readonly P[]): Form<Values<P>> {
	const fields = (parts as readonly Part[]).filter(isField);
	const shape = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));

	return {
		properties: parts.map((part: Part) => (isField(part) ? part.property : part)),
		// TypeScript cannot infer that the values are of this type.
		schema: z.object(shape).pipe(z.custom<Values<P>>()),
		fields: fields.flatMap(listFields),
		body: (values) => buildBody(fields, values),
	};
}

function isField(part: Part): part is Field {
	return 'schema' in part;
}

function listFields({ name, property, sentAs, purpose, inner, entryName }: Field): ListedField[] {
	const label = property.displayName;
	const own = sentAs === '...' ? undefined : sentAs;

	const within = (inner?.fields ?? []).map((part) => {
		const isSent = sentAs !== undefined && part.sentAs !== undefined;
		return {
			...part,
			path: compact([name, entryName && 'items.*', part.path]).join('.'),
			label: compact([label, entryName && `${entryName} *`, part.label]).join(' > '),
			sentAs: isSent ? compact([own, entryName && '*', part.sentAs]).join('.') : undefined,
		};
	});

	return [{ path: name, label, sentAs: own, purpose }, ...within];
}

function buildBody(fields: readonly Field[], values: unknown): IDataObject {
	const body: IDataObject = {};

	for (const { name, sentAs, inner } of fields) {
		const given: unknown = get(values, name);
		const build = (value: unknown): unknown => (inner ? inner.body(value) : value);
		const sent = Array.isArray(given) ? given.map(build) : build(given);
		const isBlank = sent == null || (typeof sent === 'object' && isEmpty(sent));

		if (sentAs === '...') merge(body, sent);
		else if (sentAs !== undefined && !isBlank) set(body, sentAs, sent);
	}

	return body;
}
