import { z } from 'zod';
import { BLOCKED_BY_N8N, type Fault } from './retryPolicy';

const systemName = z
	.string()
	.regex(/^[A-Za-z_]{2,40}$/)
	.optional()
	.catch(undefined);
const isBlocked = z
	.enum(BLOCKED_BY_N8N)
	.transform(() => true)
	.optional()
	.catch(undefined);
const link = z.object({
	name: isBlocked,
	code: systemName,
	syscall: systemName,
	cause: z.unknown(),
});
const DEEPEST_CAUSE = 5;

/**
 * Reads the system code of a request that got no answer. n8n wraps the fault in an error of its own,
 * so the chain of causes is followed; nothing but codes and names is taken from it, because the errors in
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
		if (parsed.data.name) fault.isBlocked = true;
		current = parsed.data.cause;
	}
	return fault;
}
