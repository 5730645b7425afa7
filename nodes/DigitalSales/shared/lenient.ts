import { z } from 'zod/v3';

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

export const lenientText = z.union([z.string(), z.number().transform(String)]);

/** An unexpected shape counts as absent, so that it does not fail the whole answer. */
export function tolerated<T extends z.ZodTypeAny>(schema: T) {
	return schema.nullish().catch(undefined);
}
