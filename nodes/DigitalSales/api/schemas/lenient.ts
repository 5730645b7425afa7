import { z } from 'zod';

/** An integer that a deployment may send as a text. */
export const lenientInteger = z
	.union([
		z.number(),
		z
			.string()
			.trim()
			.regex(/^-?\d+$/)
			.transform(Number),
	])
	.pipe(z.number().int());

/** A field whose unexpected shape is ignored instead of failing the whole answer. */
export function tolerated<T extends z.ZodTypeAny>(schema: T) {
	return schema.nullish().catch(undefined);
}
