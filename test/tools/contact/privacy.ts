import { MOST_LEVELS, type Redactor } from '../../../nodes/DigitalSales/api/redact';
import { isJsonObject } from '../../../nodes/DigitalSales/shared/json';

/** Fields whose values name a person, a thing of the account, or a secret. */
const TELLING =
	/hash|name|mail|phone|whatsapp|document|title|address|token|code|url|^id$|^transaction$/i;
const SHORTEST = 4;
const EMAIL = /[^\s@"'<>()]+@[^\s@"'<>()]+\.[^\s@"'<>()]+/g;
/** CPF, CNPJ and phone numbers, with or without punctuation. */
const LONG_NUMBER = /\+?\d(?:[ ().\-/]{0,2}\d){7,}/g;

/**
 * Makes what replaces everything personal in a text that leaves: tokens, the values of telling fields
 * in what was sent and received, e-mails and long numbers.
 */
export function createPrivacy(redact: Redactor, bodies: unknown[]): (text: string) => string {
	const values = new Set<string>();
	for (const body of bodies) collect(body, '', values);
	const words = [...values]
		.filter((value) => value.length >= SHORTEST)
		// A name that contains another is replaced as a whole.
		.sort((one, other) => other.length - one.length)
		.map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
	const known =
		words.length === 0
			? undefined
			: new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
	return (text) => {
		const clean = redact.text(text).replace(EMAIL, '[e-mail]');
		return (known ? clean.replace(known, '[removed]') : clean).replace(LONG_NUMBER, '[number]');
	};
}

function collect(value: unknown, name: string, values: Set<string>, depth = 0): void {
	// Nothing from deeper down gets into a report.
	if (depth > MOST_LEVELS) return;
	if (Array.isArray(value)) {
		for (const entry of value) collect(entry, name, values, depth + 1);
	} else if (isJsonObject(value)) {
		for (const [key, entry] of Object.entries(value)) collect(entry, key, values, depth + 1);
	} else if (TELLING.test(name) && (typeof value === 'string' || typeof value === 'number')) {
		values.add(String(value).trim());
	}
}
