const SingleContext = require('jest-environment-node-single-context');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * One global context for all files of a process, so that what is installed is loaded once (see
 * runtime.cjs). What a file has put there is taken away with it.
 */
module.exports = class TestEnvironment extends SingleContext {
	listeners = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));

	async setup() {
		await super.setup();
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
		await super.teardown();
	}
};
