import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

/** Whether JSON is an object, neither null nor an array. It is not copied: a list may be large. */
export function isJsonObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const jsonObject = z.custom<IDataObject>(isJsonObject);

/** A list of such objects, checked in one go: a schema for each entry costs more than the entry. */
export const jsonObjects = z.custom<IDataObject[]>(
	(value) => Array.isArray(value) && value.every(isJsonObject),
);
