import './environment';
import { Logger } from '@n8n/backend-common';
import { OutboundHttp } from '@n8n/backend-network';
import { Container } from '@n8n/di';
import { LoggerProxy } from 'n8n-workflow';
import { CapturingLogger, type LogEntry } from './logs';
import { oncePerProcess } from './oncePerProcess';

// Services take the logger when they are first built, so it has to be there before any of them.
const logger = oncePerProcess('logger', () => {
	const created = new CapturingLogger();
	Container.set(Logger, created as unknown as Logger);
	LoggerProxy.init(created);
	return created;
});

/** Runs `work` so that everything logged by it, or by what it starts, lands in `sink`. */
export function collectLogs<T>(sink: LogEntry[], work: () => T): T {
	return logger.collect(sink, work);
}

/** Switches n8n's protection against requests to inner addresses (N8N_SSRF_PROTECTION_ENABLED). */
export function setSsrfProtection(enabled: boolean): void {
	const config = Reflect.get(Container.get(OutboundHttp), 'ssrfConfig') as { enabled: boolean };
	config.enabled = enabled;
}
