import type { IDataObject } from 'n8n-workflow';
import { isJsonObject } from '../../shared';

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
/** `fieldsIn` and `textsIn` count separately. */
const MOST_LEVELS = 8;

export function saysFailure(body: unknown): boolean {
	return isJsonObject(body) && (body.success === false || body.success === 'false');
}

/** Reads any documented shape, and `errors` by field. Never throws. */
export function readServiceWords(body: unknown): ServiceWords {
	const messages: string[] = [];
	const fields = new Map<string, string[]>();
	let count = 0;
	for (const { field, text } of isJsonObject(body) ? wordsIn(body) : []) {
		const texts = field === undefined ? messages : (fields.get(field) ?? []);
		if (texts.includes(text)) continue;
		texts.push(text);
		if (field !== undefined) fields.set(field, texts);
		if (++count === MOST_TEXTS) break;
	}
	return { messages, fields: Object.fromEntries(fields) };
}

interface Word {
	field?: string;
	text: string;
}

function* wordsIn({ message, error, errors }: IDataObject): Generator<Word> {
	for (const text of [...textsIn(message), ...textsIn(error)]) yield { text };
	if (isJsonObject(errors)) yield* fieldsIn(errors);
	else for (const text of textsIn(errors)) yield { text };
}

function* fieldsIn(errors: IDataObject, prefix = '', level = 1): Generator<Word> {
	if (level > MOST_LEVELS) return;
	for (const [key, value] of Object.entries(errors)) {
		const field = `${prefix}${key}`.slice(0, LONGEST_NAME).replace(/\s+/g, ' ');
		if (isJsonObject(value)) yield* fieldsIn(value, `${field}.`, level + 1);
		else for (const text of textsIn(value)) yield { field, text };
	}
}

function* textsIn(value: unknown, level = 1): Generator<string> {
	if (level > MOST_LEVELS) return;
	if (Array.isArray(value)) {
		for (const entry of value.slice(0, MOST_TEXTS)) yield* textsIn(entry, level + 1);
	} else if (isJsonObject(value)) {
		yield* textsIn(value.message, level + 1);
	} else if (typeof value === 'string' || typeof value === 'number') {
		// On one line, so that no text looks like a line of advice.
		const text = String(value).trim().slice(0, LONGEST_TEXT).replace(/\s+/g, ' ');
		if (text !== '') yield text;
	}
}
