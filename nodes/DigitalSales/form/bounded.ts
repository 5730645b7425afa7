import { z } from 'zod';
import { LONGEST_TEXT } from '../domain/text';

/** Deeper than any form or body. */
const MOST_LEVELS = 32;

interface Excess {
	path: Array<string | number>;
	message: string;
}

/**
 * A form whose texts have a reasonable length; without that nothing else reads them. Each may come
 * from a stranger, and many a pattern takes time by the square of the length.
 */
export function bounded<T>(form: z.ZodType<T, z.ZodTypeDef, unknown>) {
	return z
		.unknown()
		.superRefine((values, context) => {
			const excess = excessIn(values);
			if (excess) context.addIssue({ code: 'custom', ...excess });
		})
		.pipe(form);
}

/** The first text in a value that is too long, or the first level too deep. */
export function excessIn(value: unknown, levels = MOST_LEVELS): Excess | undefined {
	if (typeof value === 'string' && value.length > LONGEST_TEXT) {
		const message = `must have at most ${LONGEST_TEXT} characters; this one has ${value.length}`;
		return { path: [], message };
	}
	if (typeof value !== 'object' || value === null) return undefined;
	if (levels === 0) return { path: [], message: 'is nested too deeply' };
	for (const [name, inner] of Object.entries(value)) {
		const excess = excessIn(inner, levels - 1);
		const key = Array.isArray(value) ? Number(name) : name;
		if (excess) return { ...excess, path: [key, ...excess.path] };
	}
	return undefined;
}
