import { createHash } from 'crypto';
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

const INTEGER = z.number().int().safe();
const INTEGER_TEXT = z.string().regex(/^\s*-?\d+\s*$/);

export const lenientInteger = tolerated(INTEGER.or(INTEGER_TEXT.transform(Number).pipe(INTEGER)));

export const lenientText = tolerated(z.union([z.string(), z.number().transform(String)]));

/** An unexpected shape counts as absent, so that it does not fail the whole answer. */
export function tolerated<T extends z.ZodTypeAny>(schema: T) {
	return schema.nullish().catch(undefined);
}

const DIGEST_BYTES = 16;

export function digest(...texts: string[]): string {
	const hash = createHash('sha256').update(JSON.stringify(texts)).digest();
	return hash.subarray(0, DIGEST_BYTES).toString('base64url');
}
