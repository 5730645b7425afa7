import type { IDataObject } from 'n8n-workflow';
import { isJsonObject } from '../../shared/json';

/**
 * The service's own words about a failure, read from the documented shapes (API document,
 * Errors 1), and from `errors` by field.
 */
export interface ServiceWords {
	/** Texts that belong to no field, the general message first. */
	messages: string[];
	/** Texts by the service's dotted field name, for example `cart.0.price`. */
	fields: Record<string, string[]>;
}

/** In all: nobody reads more, and an error is stored with its execution. */
const MOST_TEXTS = 20;
const LONGEST_TEXT = 500;
const LONGEST_NAME = 100;
/** `errors.cart.0.price[0].message` goes six levels down. */
const MOST_LEVELS = 8;

/** Whether a body says that the request failed, whatever the status. */
export function saysFailure(body: unknown): boolean {
	return isJsonObject(body) && (body.success === false || body.success === 'false');
}

/** Reads what a service said about a failure; an unknown shape gives no words. Never throws. */
export function readServiceWords(body: unknown): ServiceWords {
	const collector = new Collector();
	const { message, error, errors }: IDataObject = isJsonObject(body) ? body : {};
	collector.addTexts(message);
	collector.addTexts(error);
	if (isJsonObject(errors)) collector.addFields(errors);
	else collector.addTexts(errors);
	return collector.words();
}

/** Collects texts within the bounds of depth, number and length. */
class Collector {
	private readonly messages: string[] = [];
	private readonly fields = new Map<string, string[]>();
	private count = 0;

	/** @param texts where they go: a list of its own for each field */
	addTexts(value: unknown, texts = this.messages, level = 1): void {
		if (level > MOST_LEVELS) return;
		if (Array.isArray(value)) {
			for (const entry of value.slice(0, MOST_TEXTS)) this.addTexts(entry, texts, level + 1);
		} else if (isJsonObject(value)) {
			this.addTexts(value.message, texts, level + 1);
		} else if (typeof value === 'string' || typeof value === 'number') {
			const text = String(value).trim().slice(0, LONGEST_TEXT);
			if (text === '' || texts.includes(text) || this.count >= MOST_TEXTS) return;
			texts.push(text);
			this.count++;
		}
	}

	addFields(errors: IDataObject, prefix = '', level = 1): void {
		if (level > MOST_LEVELS) return;
		for (const [key, value] of Object.entries(errors)) {
			const name = `${prefix}${key}`.slice(0, LONGEST_NAME);
			if (isJsonObject(value)) {
				this.addFields(value, `${name}.`, level + 1);
				continue;
			}
			const texts = this.fields.get(name) ?? [];
			this.addTexts(value, texts);
			if (texts.length > 0) this.fields.set(name, texts);
		}
	}

	words(): ServiceWords {
		return { messages: this.messages, fields: Object.fromEntries(this.fields) };
	}
}
