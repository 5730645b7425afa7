import { z } from 'zod';

/**
 * The service's own words about a failure, read from any of the shapes it uses (API document,
 * Errors 1; deployments also key `errors` by field).
 */
export interface ServiceWords {
	/** Texts that belong to no field, the general message first. */
	messages: string[];
	/** Texts by the service's dotted field name, for example `cart.0.price`. */
	fields: Record<string, string[]>;
}

const MOST_TEXTS = 20;
const LONGEST_TEXT = 500;

const errorBody = z.object({
	success: z.unknown(),
	message: z.unknown(),
	error: z.unknown(),
	errors: z.unknown(),
});

/** Whether a body under a 2xx says itself that the request failed. */
export function saysFailure(body: unknown): boolean {
	const { data } = errorBody.safeParse(body);
	return data !== undefined && (data.success === false || data.success === 'false');
}

/** Reads what a service said about a failure; an unknown shape gives no words, never an error. */
export function readServiceWords(body: unknown): ServiceWords {
	const words: ServiceWords = { messages: [], fields: {} };
	const { data } = errorBody.safeParse(body);
	if (!data) return words;
	addTexts(words.messages, data.message);
	addTexts(words.messages, data.error);
	if (isRecord(data.errors)) collectFields(words.fields, data.errors, '');
	else addTexts(words.messages, data.errors);
	return words;
}

function collectFields(fields: Record<string, string[]>, errors: object, prefix: string): void {
	for (const [key, value] of Object.entries(errors)) {
		if (Object.keys(fields).length >= MOST_TEXTS) return;
		const name = prefix === '' ? key : `${prefix}.${key}`;
		if (isRecord(value)) {
			collectFields(fields, value, name);
			continue;
		}
		const texts: string[] = [];
		addTexts(texts, value);
		if (texts.length > 0) fields[name] = texts;
	}
}

function addTexts(texts: string[], value: unknown): void {
	if (Array.isArray(value)) {
		for (const entry of value.slice(0, MOST_TEXTS)) addTexts(texts, entry);
		return;
	}
	if (isRecord(value)) {
		addTexts(texts, 'message' in value ? value.message : undefined);
		return;
	}
	if (typeof value !== 'string' && typeof value !== 'number') return;
	const text = String(value).trim().slice(0, LONGEST_TEXT);
	if (text !== '' && !texts.includes(text)) texts.push(text);
}

function isRecord(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
