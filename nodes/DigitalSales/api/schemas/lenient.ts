import { z } from 'zod/v3';
import type { IDataObject } from 'n8n-workflow';
import { isJsonObject } from '../../shared/json';

/** A safe integer that a deployment may send as a text. */
export const lenientInteger = z
	.union([
		z.number(),
		z
			.string()
			.trim()
			.regex(/^-?\d+$/)
			.transform(Number),
	])
	.pipe(z.number().int().safe());

/** A text that a deployment may send as a number; of anything else no text is made. */
export const lenientText = z.union([z.string(), z.number().transform(String)]);

/** A field whose unexpected shape is ignored instead of failing the whole answer. */
export function tolerated<T extends z.ZodTypeAny>(schema: T) {
	return schema.nullish().catch(undefined);
}

const withHash = z.object({ hash: z.union([z.string().trim().min(1), z.number()]) }).passthrough();

/**
 * Reads one resource that has a hash, bare as documented or wrapped as `{success, data}`, in case a
 * deployment sends that. The object stays as it came; anything without a hash is not the resource.
 */
export function readResource(body: unknown): IDataObject | undefined {
	if (!isJsonObject(body)) return undefined;
	if (withHash.safeParse(body).success) return body;
	const { data } = body;
	const inner: unknown = Array.isArray(data) ? data[0] : data;
	return isJsonObject(inner) && withHash.safeParse(inner).success ? inner : undefined;
}
