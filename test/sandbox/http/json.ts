export type JsonObject = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined for what is no JSON: Laravel, too, takes a broken body for an empty one. */
export function parseJson(text: unknown): unknown {
	if (typeof text !== 'string' || text === '') return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** The last of repeated query parameters counts, as in PHP. */
export function flatQuery(query: unknown): Record<string, string> {
	const flat: Record<string, string> = {};
	if (!isRecord(query)) return flat;
	for (const [name, value] of Object.entries(query)) {
		const last: unknown = Array.isArray(value) ? value[value.length - 1] : value;
		if (typeof last === 'string') flat[name] = last;
	}
	return flat;
}
