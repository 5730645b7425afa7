import { castArray, groupBy, map, mapValues, partition } from 'lodash';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { isJsonObject } from '../../shared';

/** An unsafe integer has lost digits, and may be the hash of another resource. */
export const resourceHash = z.union([z.string().trim().min(1), z.number().int().safe()]);

const withHash = z.object({ hash: resourceHash });

/**
 * Reads a resource, bare as documented or wrapped as `{success, data}`.
 *
 * @returns undefined without a hash, or if wrapped with `success: false`
 */
export function readResource(body: unknown): IDataObject | undefined {
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
const MOST_TEXTS = 20;
const LONGEST_TEXT = 500;
const LONGEST_NAME = 100;

interface Word {
	field?: string;
	text: string;
}

/** Reads any documented shape, and `errors` by field. The body is not nested deeply (see redact.ts). */
export function readServiceWords(body: unknown): ServiceWords {
	const words = new Map<string, Word>();
	for (const word of wordsOf(body)) {
		words.set(JSON.stringify(word), word);
		if (words.size === MOST_TEXTS) break;
	}

	const isNamed = ({ field }: Word): boolean => field !== undefined;
	const [named, general] = partition([...words.values()], isNamed);
	const fields = mapValues(groupBy(named, 'field'), (ofField) => map(ofField, 'text'));
	return { messages: map(general, 'text'), fields };
}

function* wordsOf(body: unknown): Generator<Word> {
	const { message, error, errors } = isJsonObject(body) ? body : {};

	yield* wordsIn(message);
	yield* wordsIn(error);
	if (isJsonObject(errors)) yield* fieldsIn(errors);
	else yield* wordsIn(errors);
}

function* fieldsIn(errors: IDataObject, prefix = ''): Generator<Word> {
	for (const [key, value] of Object.entries(errors)) {
		const field = `${prefix}${key}`.slice(0, LONGEST_NAME).replace(/\s+/g, ' ');
		if (isJsonObject(value)) yield* fieldsIn(value, `${field}.`);
		else yield* wordsIn(value, field);
	}
}

function* wordsIn(value: unknown, field?: string): Generator<Word> {
	if (Array.isArray(value)) {
		for (const entry of value.slice(0, MOST_TEXTS)) yield* wordsIn(entry, field);
	} else if (isJsonObject(value)) {
		yield* wordsIn(value.message, field);
	} else if (typeof value === 'string' || typeof value === 'number') {
		// On one line, so that no text looks like a line of advice.
		const text = String(value).trim().slice(0, LONGEST_TEXT).replace(/\s+/g, ' ');
		if (text !== '') yield { field, text };
	}
}
