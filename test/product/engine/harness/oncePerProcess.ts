const store: Record<symbol, unknown> = globalThis as unknown as Record<symbol, unknown>;

/**
 * Makes something that lasts as long as n8n's engine does: for all files of tests of a process, while
 * the modules of the harness are loaded again for each.
 */
export function oncePerProcess<T>(name: string, make: () => T): T {
	const key = Symbol.for(`digital-sales harness: ${name}`);
	store[key] ??= make();
	return store[key] as T;
}
