import { escapeRegExp } from 'lodash';

export type Redactor = ReturnType<typeof createRedactor>;

const REPLACEMENT = '[token removed]';
const SHORTEST_TOKEN = 4;
/** n8n serializes items recursively, so very deep JSON overflows its stack. */
const MOST_LEVELS = 64;

/**
 * Takes tokens out of answers, because a platform may echo a request with its headers. Finds a token as it is, in a URL
 * and in JSON, in any letter case. `json` cleans JSON in place, because it may be large, and throws a RangeError if it
 * is nested too deeply.
 */
export function createRedactor(tokens: readonly string[]) {
	const words = tokens.filter(({ length }) => length >= SHORTEST_TOKEN);
	const forms = words.flatMap((word) => [
		word,
		encodeURIComponent(word),
		JSON.stringify(word).slice(1, -1),
	]);
	// Longest first, because a token may begin with another token.
	forms.sort((a, b) => b.length - a.length);
	const pattern = new RegExp(forms.map(escapeRegExp).join('|') || '(?!)', 'gi');
	const numbers = new Set(words.map(Number));

	const text = (dirty: string): string => dirty.replace(pattern, REPLACEMENT);
	const json = (value: unknown, levels = MOST_LEVELS): unknown => {
		if (typeof value === 'string') return text(value);
		if (typeof value === 'number') return numbers.has(Math.abs(value)) ? REPLACEMENT : value;
		if (!isObject(value)) return value;
		if (levels === 0) throw new RangeError('The JSON is nested too deeply');

		for (const [name, entry] of Object.entries(value)) {
			const cleanName = Array.isArray(value) ? name : text(name);
			if (cleanName !== name) delete value[name];
			value[cleanName] = json(entry, levels - 1);
		}
		return value;
	};

	return { text, json };
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null;
}
