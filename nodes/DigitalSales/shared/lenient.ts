import { z } from 'zod/v3';

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
