import { castArray, groupBy, map, mapValues, partition, uniqBy } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { isJsonObject } from '../../shared';

/** An unsafe integer has lost digits, and may be the hash of another resource. */
export const resourceHash = z.union([z.string().trim().min(1), z.number().int().safe()]);

const withHash = z.object({ hash: resourceHash });

/**
 * Parses a resource, bare as documented or wrapped as `{success, data}`.
 *
 * @returns undefined without a hash, or if wrapped with `success: false`
 */
export function parseResource(body: unknown): IDataObject | undefined {
	if (!isJsonObject(body)) return undefined;
	if (withHash.safeParse(body).success) return body;
	if (saysFailure(body)) return undefined;

	const [inner] = castArray(body.data);
	if (isJsonObject(inner) && withHash.safeParse(inner).success) return inner;
	return undefined;
}

export function saysFailure(body: unknown): boolean {
	return isJsonObject(body) && (body.success === false || body.success === 'false');
}

/** API document, Errors 1. */
export interface ServiceWords {
	messages: string[];
	/** By the platform's dotted name, for example `cart.0.price`. */
	fields: Record<string, string[]>;
}

/** Errors are stored with their execution, and nobody reads more. */
const MOST_SENTENCES = 20;
const LONGEST_SENTENCE = 500;
const LONGEST_NAME = 100;

interface Sentence {
	field?: string;
	text: string;
}

/** Parses any documented shape, and `errors` by field. */
export function parseServiceWords(body: unknown): ServiceWords {
	const { message, error, errors } = isJsonObject(body) ? body : {};
	const ofErrors = isJsonObject(errors) ? sentencesByField(errors) : sentencesIn(errors);
	const all = [...sentencesIn(message), ...sentencesIn(error), ...ofErrors];
	const different = uniqBy(all, (sentence) => JSON.stringify(sentence)).slice(0, MOST_SENTENCES);

	const [named, general] = partition(different, ({ field }) => field !== undefined);
	const fields = mapValues(groupBy(named, 'field'), (ofField) => map(ofField, 'text'));
	return { messages: map(general, 'text'), fields };
}

function sentencesByField(errors: IDataObject): Sentence[] {
	return Object.entries(errors).flatMap(([name, value]) =>
		sentencesIn(value, name.slice(0, LONGEST_NAME).replace(/\s+/g, ' ')),
	);
}

/** The value is not nested deeply (see redact.ts). */
function sentencesIn(value: unknown, field?: string): Sentence[] {
	if (Array.isArray(value)) {
		return value.slice(0, MOST_SENTENCES).flatMap((entry) => sentencesIn(entry, field));
	}
	if (isJsonObject(value)) return sentencesIn(value.message, field);
	if (typeof value !== 'string' && typeof value !== 'number') return [];

	// On one line, so that no text looks like a line of advice.
	const text = String(value).trim().slice(0, LONGEST_SENTENCE).replace(/\s+/g, ' ');
	if (text === '') return [];
	return [{ field, text }];
}
