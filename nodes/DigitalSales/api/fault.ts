import { z } from 'zod';
import type { Fault } from './retryPolicy';

const systemName = z
	.string()
	.regex(/^[A-Za-z_]{2,40}$/)
	.optional()
	.catch(undefined);
const link = z.object({ code: systemName, syscall: systemName, cause: z.unknown() });
const DEEPEST_CAUSE = 5;

/**
 * Reads the system code of a request that got no answer. n8n wraps the fault in an error of its own,
 * so the chain of causes is followed; nothing but the codes is taken from it, because the errors in
 * it carry the request with its headers.
 */
export function readFault(error: unknown): Fault {
	const fault: Fault = {};
	let current: unknown = error;
	for (let depth = 0; depth < DEEPEST_CAUSE; depth++) {
		const parsed = link.safeParse(current);
		if (!parsed.success) break;
		fault.code ??= parsed.data.code;
		fault.syscall ??= parsed.data.syscall;
		current = parsed.data.cause;
	}
	return fault;
}
