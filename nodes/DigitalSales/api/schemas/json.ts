import type { GenericValue, IDataObject } from 'n8n-workflow';

/** Whether a value is a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isGenericValue(value: unknown): value is GenericValue {
	return value === null || ['string', 'number', 'boolean', 'object'].includes(typeof value);
}

/**
 * An object that came out of JSON.parse, under the name n8n has for it. Values that JSON cannot
 * hold are not in such an object; were there one, it would be left out.
 */
export function toDataObject(value: Record<string, unknown>): IDataObject {
	return Object.fromEntries(
		Object.entries(value).filter((entry): entry is [string, GenericValue] =>
			isGenericValue(entry[1]),
		),
	);
}
