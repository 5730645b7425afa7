import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

// n8n reads its settings from the environment the first time a service is asked for, and writes a
// settings file of its own: without this, runs would depend on, and write to, the developer's home.
oncePerProcess('environment', () => {
	const userFolder = mkdtempSync(join(tmpdir(), 'digital-sales-engine-'));
	process.env.N8N_USER_FOLDER = userFolder;
	process.env.N8N_ENCRYPTION_KEY = 'engine-tests';
	process.env.N8N_SSRF_PROTECTION_ENABLED = 'false';
	process.once('exit', () => rmSync(userFolder, { recursive: true, force: true }));

	// The engine sends its requests through the environment's proxy, loopback included.
	for (const name of Object.keys(process.env)) {
		if (/^(https?|all|no)_proxy$/i.test(name)) delete process.env[name];
	}
	return userFolder;
});
