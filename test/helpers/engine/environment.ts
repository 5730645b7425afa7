import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Logger } from '@n8n/backend-common';
import { OutboundHttp } from '@n8n/backend-network';
import { Container } from '@n8n/di';
import { LoggerProxy, type LogMetadata } from 'n8n-workflow';

const store: Record<symbol, unknown> = globalThis as unknown as Record<symbol, unknown>;

/** Makes a value once per jest worker, because n8n's engine is loaded once, but the helpers once per test file. */
export function oncePerJestWorker<T>(name: string, make: () => T): T {
	const key = Symbol.for(`digital-sales harness: ${name}`);
	store[key] ??= make();
	return store[key] as T;
}

// Otherwise n8n would read settings from the developer's home, and write a settings file there.
oncePerJestWorker('environment', () => {
	const userFolder = mkdtempSync(join(tmpdir(), 'digital-sales-engine-'));
	process.env.N8N_USER_FOLDER = userFolder;
	process.env.N8N_ENCRYPTION_KEY = 'engine-tests';
	process.env.N8N_SSRF_PROTECTION_ENABLED = 'false';
	process.once('exit', () => rmSync(userFolder, { recursive: true, force: true }));

	// The engine would send even requests to loopback through a proxy.
	for (const name of Object.keys(process.env)) {
		if (/^(https?|all|no)_proxy$/i.test(name)) delete process.env[name];
	}
	return userFolder;
});

export interface LogEntry {
	level: 'error' | 'warn' | 'info' | 'debug';
	text: string;
}

/** The log of n8n and its nodes since the test began, also after the end of a run. */
export const logged = oncePerJestWorker('log', () => {
	const entries: LogEntry[] = [];
	const writes = (level: LogEntry['level']) => (message: string, metadata?: LogMetadata) => {
		const details = metadata === undefined ? '' : ` ${inspect(metadata, { depth: 12 })}`;
		entries.push({ level, text: `${message}${details}` });
	};
	const logger = {
		error: writes('error'),
		warn: writes('warn'),
		info: writes('info'),
		debug: writes('debug'),
		scoped: () => logger,
	};
	// n8n's classes take the logger when they are built, so the logger comes first.
	Container.set(Logger, logger as unknown as Logger);
	LoggerProxy.init(logger);
	return entries;
});

beforeEach(() => {
	logged.length = 0;
});

/** Turns n8n's protection against requests to private addresses on or off (N8N_SSRF_PROTECTION_ENABLED). */
export function setSsrfProtection(enabled: boolean): void {
	const config = Reflect.get(Container.get(OutboundHttp), 'ssrfConfig') as { enabled: boolean };
	config.enabled = enabled;
}
