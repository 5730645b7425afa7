const SingleContext = require('jest-environment-node-single-context');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What finds the place in our sources for each line of a stack: with what it has read of them. */
let placeInSources;

const { exit } = process;

// Jest's last act in a worker is to stop listening to its parent, and it waits half a second for the process to end.
// Nothing is left to do, but to take half a gigabyte of modules apart may take Node.js longer on a busy machine.
if (process.env.JEST_WORKER_ID !== undefined && process.send) {
	process.on('removeListener', (event) => {
		if (event === 'message' && process.listenerCount(event) === 0)
			process.kill(process.pid, 'SIGKILL');
	});
}

/**
 * One global context for all files of a process, so that what is installed is loaded once (see
 * runtime.cjs). What a file has put there is taken away with it.
 */
module.exports = class TestEnvironment extends SingleContext {
	listeners = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));

	constructor(config, context) {
		super(config, context);
		const { watch, watchAll } = config.globalConfig;
		this.mayFilesChange = watch || watchAll;
	}

	async setup() {
		await super.setup();
		// Jest brings another one for each file of tests, which reads the maps of all our sources anew.
		placeInSources ??= Error.prepareStackTrace;
		if (!this.mayFilesChange) Error.prepareStackTrace = placeInSources;
		// Node's own limit: jest sets ten times that, which each of the many errors here then costs.
		Error.stackTraceLimit = 10;
	}

	async teardown() {
		this.moduleMocker.restoreAllMocks();
		for (const [signal, before] of this.listeners) {
			for (const listener of process.listeners(signal)) {
				if (!before.includes(listener)) process.removeListener(signal, listener);
			}
		}
		process.exit = exit;
		for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
			if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol];
		}
		await super.teardown();
	}
};
