import { compact, get, isEmpty, merge, omit, set } from 'lodash';
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

/**
 * What a field is for, which restricts its expression.
 * - `decides`: who pays what. No `{{ }}` may be empty, except one that an agent's model fills in.
 * - `guards`: against a second charge. No `{{ }}` may be empty, whoever fills it in.
 * - `json`: like `decides`. A `{{ }}` must not close the JSON string around it, because it would set other fields.
 * - `confirms`: a person has checked something. A model must not fill it in.
 * - `informs`: text that decides nothing. What is no text, or too long, is left out with a hint. The schema may still
 *   refuse a text.
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
	/** Shown instead of `property` under other conditions. */
	alternative?: INodeProperties;
	schema: Schema<T>;
	/** Of a group or list. */
	parts?: readonly Part[];
}

type Part = Field | (INodeProperties & { type: 'notice' });
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

export type FormValues<F> = F extends Form<infer T> ? T : never;

export interface Form<T> {
	properties: INodeProperties[];
	schema: Schema<T>;
	/** From fields of the platform to parameters. Both names are dotted, with `*` for an index. */
	serviceFields: ReadonlyMap<string, string>;
	/** Each pattern is the dotted path of a parameter, with `*` for an index. */
	purposes: ReadonlyArray<{ pattern: string; purpose: Purpose }>;
	body(values: T): IDataObject;
}

export function defineField<const N extends string, S extends z.ZodTypeAny>(
	spec: INodeProperties & FieldUse & { name: N; reads: S },
): Field<N, z.output<S>> {
	const { reads, sentAs, purpose, ...property } = spec;

	return { name: spec.name, property, schema: reads, sentAs, purpose };
}

/** With `sentAs`, a collection is an object in the body. Otherwise its fields belong to the body itself. */
export function defineGroup<const N extends string, P extends Part>(
	{ sentAs, ...spec }: Collection<N>,
	parts: readonly P[],
): Field<N, Values<P>> {
	const { properties, schema } = defineForm(parts);
	const property: INodeProperties = {
		...spec,
		type: 'collection',
		default: {},
		options: properties,
	};

	return { name: spec.name, property, schema: schema.default({}), sentAs: sentAs ?? '...', parts };
}

export function defineOptions<P extends Part>(parts: readonly P[]) {
	return defineGroup({ displayName: 'Options', name: 'options', placeholder: 'Add Option' }, parts);
}

export function defineList<const N extends string, P extends Part>(
	spec: Collection<N> & { default?: NodeParameterValueType },
	entryName: string,
	parts: readonly P[],
): Field<N, Array<Values<P>>> {
	const { properties, schema } = defineForm(parts);
	const entries = z.object({ items: z.array(schema).default([]) }).default({});

	return {
		name: spec.name,
		property: {
			...omit(spec, 'sentAs', 'default'),
			type: 'fixedCollection',
			typeOptions: { ...spec.typeOptions, multipleValues: true },
			default: spec.default ?? {},
			options: [{ displayName: entryName, name: 'items', values: properties }],
		},
		schema: entries.transform(({ items }) => items),
		sentAs: spec.sentAs,
		parts,
	};
}

export function defineForm<P extends Part>(
	parts: readonly P[],
	check: (values: Values<P>) => Problem[] = () => [],
): Form<Values<P>> {
	const fields = (parts as readonly Part[]).filter(isField);
	const shape = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]));
	// `Values` guarantees that these values are of this type, which TypeScript cannot infer.
	const values = z.custom<Values<P>>().superRefine((all, context) => {
		for (const problem of check(all)) context.addIssue({ code: 'custom', ...problem });
	});
	const listed = [...listFields(parts)];

	return {
		properties: parts.flatMap(propertiesOf),
		schema: z.object(shape).pipe(values),
		serviceFields: new Map(
			compact(listed.map(({ service, pattern }) => service && [service, pattern])),
		),
		purposes: compact(listed.map(({ purpose, pattern }) => purpose && { purpose, pattern })),
		body: (given) => buildBody(parts, given),
	};
}

function propertiesOf(part: Part): INodeProperties[] {
	return isField(part) ? compact([part.property, part.alternative]) : [part];
}

function isField(part: Part): part is Field {
	return 'schema' in part;
}

interface Listed {
	pattern: string;
	service?: string;
	purpose?: Purpose;
}

/** All fields, also those in groups and lists. */
function* listFields(parts: readonly Part[]): Generator<Listed> {
	for (const field of parts.filter(isField)) {
		const { name, sentAs, purpose } = field;
		const service = sentAs === '...' ? undefined : sentAs;
		const isList = field.property.type === 'fixedCollection';
		yield { pattern: name, service, purpose };

		for (const inner of listFields(field.parts ?? [])) {
			const path = isList ? [name, 'items', '*', inner.pattern] : [name, inner.pattern];
			const sent = compact([service, isList && '*', inner.service]);
			const isSent = sentAs !== undefined && inner.service !== undefined;
			yield { ...inner, pattern: path.join('.'), service: isSent ? sent.join('.') : undefined };
		}
	}
}

function buildBody(parts: readonly Part[], values: unknown): IDataObject {
	const body: IDataObject = {};

	for (const field of parts.filter(isField)) {
		const { sentAs } = field;
		const sent = sentValue(field, get(values, field.name));

		if (sentAs === '...') merge(body, sent);
		else if (sentAs !== undefined && !isLeftOut(sent)) set(body, sentAs, sent);
	}

	return body;
}

function sentValue({ parts }: Field, given: unknown): unknown {
	if (!parts) return given;
	if (!Array.isArray(given)) return buildBody(parts, given);
	return given.map((entry) => buildBody(parts, entry));
}

function isLeftOut(sent: unknown): boolean {
	return sent == null || (typeof sent === 'object' && isEmpty(sent));
}
