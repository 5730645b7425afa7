import { inspect } from 'node:util';
import type { IWorkflowExecuteAdditionalData, Logger, LogMetadata } from 'n8n-workflow';

/** One line of the engine's or the node's log, of any level. */
export interface LogEntry {
	level: 'error' | 'warn' | 'info' | 'debug';
	message: string;
	/** Message and metadata, the metadata as it was when it was logged. */
	text: string;
}

/** Stands in for n8n's logger, which would write to the console. */
function loggerTo(sinks: () => Iterable<LogEntry[]>): Logger {
	const writes =
		(level: LogEntry['level']) =>
		(message: string, metadata?: LogMetadata): void => {
			const open = new Set(sinks());
			if (open.size === 0) return;
			const details = metadata === undefined ? '' : ` ${inspect(metadata, { depth: 12 })}`;
			for (const sink of open) sink.push({ level, message, text: `${message}${details}` });
		};
	const logger = {
		error: writes('error'),
		warn: writes('warn'),
		info: writes('info'),
		debug: writes('debug'),
	};
	return Object.assign(logger, { scoped: () => logger });
}

/**
 * The logs of a process. What a node logs lands in the log of its own run, also after its end; what n8n
 * logs beside it lands in those of all runs under way. To follow each call instead (AsyncLocalStorage)
 * makes every promise of the process slow.
 */
export class ProcessLogs {
	/** One for each piece of work under way. */
	private readonly open = new Map<symbol, LogEntry[]>();
	private readonly ofRun = new WeakMap<IWorkflowExecuteAdditionalData, LogEntry[]>();

	/** The logger of n8n's services. */
	readonly logger = loggerTo(() => this.open.values());

	/** Has all that n8n logs while `work` is under way land in `sink`. */
	async collect<T>(sink: LogEntry[], work: () => Promise<T>): Promise<T> {
		const key = Symbol('work');
		this.open.set(key, sink);
		try {
			return await work();
		} finally {
			this.open.delete(key);
		}
	}

	/** Has all that the nodes of a run log land in `sink`. */
	assign(run: IWorkflowExecuteAdditionalData, sink: LogEntry[]): void {
		this.ofRun.set(run, sink);
	}

	/** The logger of a node of that run. */
	loggerOf(run: IWorkflowExecuteAdditionalData): Logger {
		const sink = this.ofRun.get(run);
		return sink === undefined ? this.logger : loggerTo(() => [sink]);
	}
}
