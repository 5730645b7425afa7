import type { Redactor } from '../../../nodes/DigitalSales/api/redact';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';

/** Gives a word of the service as a report may show it. */
export type Shown = (word: string) => string;

/** Fields whose values name a person, a thing of the account, or a secret. */
const TELLING = /hash|name|mail|phone|whatsapp|document|token|^id$|^transaction$/i;
/** What names of fields, headers, statuses and content types look like. */
const WORD = /^_?[a-z]+\d{0,2}(?:[_.+/-](?:[a-z]+\d{0,2}|\d{1,3}))*$/i;
const LONGEST_WORD = 40;
const SHORTEST_VALUE = 4;
const REMOVED = '[removed]';

/**
 * Every word of a report that comes from the service passes through this, and nothing else of it is
 * shown: whatever does not look like the name of a field, or is a telling value that was seen, is
 * replaced.
 */
export function createShown(redact: Redactor, bodies: unknown[]): Shown {
	const values = new Set<string>();
	for (const body of bodies) collect(body, '', values);
	return (word) => {
		const parts = [word, ...word.split(/[_.+/-]/)].map((part) => part.toLowerCase());
		const isShown =
			word.length <= LONGEST_WORD &&
			WORD.test(word) &&
			redact.text(word) === word &&
			!parts.some((part) => values.has(part));
		return isShown ? word : REMOVED;
	};
}

/** Nothing from deeper down gets into a report. */
const DEEPEST = 64;

function collect(value: unknown, name: string, values: Set<string>, depth = 0): void {
	if (depth > DEEPEST) return;
	if (Array.isArray(value)) {
		for (const entry of value) collect(entry, name, values, depth + 1);
	} else if (isJsonObject(value)) {
		for (const [key, entry] of Object.entries(value)) collect(entry, key, values, depth + 1);
	} else if (TELLING.test(name) && (typeof value === 'string' || typeof value === 'number')) {
		const whole = String(value).trim().toLowerCase();
		for (const part of [whole, ...whole.split(/\s+/)]) {
			if (part.length >= SHORTEST_VALUE) values.add(part);
		}
	}
}
