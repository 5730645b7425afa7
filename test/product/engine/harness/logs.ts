import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import type { Logger, LogMetadata } from 'n8n-workflow';

/** One line of the engine's or the node's log, of any level. */
export interface LogEntry {
	level: 'error' | 'warn' | 'info' | 'debug';
	message: string;
	/** Message and metadata, the metadata as it was when it was logged. */
	text: string;
}

/** Stands in for n8n's logger, which would write to the console. */
export class CapturingLogger implements Logger {
	private readonly sinks = new AsyncLocalStorage<LogEntry[]>();

	/** Runs `work` so that everything logged by it, or by what it starts, lands in `sink`. */
	collect<T>(sink: LogEntry[], work: () => T): T {
		return this.sinks.run(sink, work);
	}

	error(message: string, metadata?: LogMetadata): void {
		this.write('error', message, metadata);
	}

	warn(message: string, metadata?: LogMetadata): void {
		this.write('warn', message, metadata);
	}

	info(message: string, metadata?: LogMetadata): void {
		this.write('info', message, metadata);
	}

	debug(message: string, metadata?: LogMetadata): void {
		this.write('debug', message, metadata);
	}

	scoped(): this {
		return this;
	}

	private write(level: LogEntry['level'], message: string, metadata?: LogMetadata): void {
		const details = metadata === undefined ? '' : ` ${inspect(metadata, { depth: 12 })}`;
		this.sinks.getStore()?.push({ level, message, text: `${message}${details}` });
	}
}
