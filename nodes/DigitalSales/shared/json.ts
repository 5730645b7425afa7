import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

/**
 * Whether what came out of JSON.parse is an object, not null and not an array; n8n has its own name
 * for such objects. They are taken as they are: a copy of each would double what a large list takes.
 */
export function isJsonObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same as a schema. */
export const jsonObject = z.custom<IDataObject>(isJsonObject);

/** A list of such objects, checked in one go: a schema for each entry costs more than the entry. */
export const jsonObjects = z.custom<IDataObject[]>(
	(value) => Array.isArray(value) && value.every(isJsonObject),
);
