import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

export function isJsonObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const jsonObject = z.custom<IDataObject>(isJsonObject);

/** Does not copy the list, because it may be large. */
export const jsonObjects = z.custom<IDataObject[]>(
	(value) => Array.isArray(value) && value.every(isJsonObject),
);

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
	try {
		// `trim` also removes a byte order mark.
		return JSON.parse(text.trim());
	} catch {
		return undefined;
	}
}
