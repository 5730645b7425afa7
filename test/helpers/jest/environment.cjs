const { appendFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const SingleContext = require('jest-environment-node-single-context');

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const LARGEST_HEAP_BYTES = 700 * 1024 * 1024;

const { exit } = process;
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** Gets a line for each test, with its CPU time in milliseconds (see tools/slow.ts). */
const { CPU_LOG } = process.env;

/** Finds the line in our sources for each line of a stack, with the source maps that it has read. */
let prepareStackTrace;

// Jest gives a worker half a second to end after its last message. Node.js takes longer to clean up on a busy
// machine, and nothing is left to do, so the worker kills itself when jest removes its listener.
if (process.env.JEST_WORKER_ID !== undefined && process.send) {
	process.on('removeListener', (event) => {
		if (event === 'message' && process.listenerCount(event) === 0)
			process.kill(process.pid, 'SIGKILL');
	});
}

/**
 * One global context for all test files of a jest worker, so that installed modules are loaded once (see runtime.cjs).
 * The teardown removes what a file and jest added to the context. Otherwise the modules of all earlier files stay in
 * memory, and the system takes more than half a second to free the memory of a worker that ends.
 */
module.exports = class TestEnvironment extends SingleContext {
	listeners = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));

	constructor(config, context) {
		super(config, context);
		this.file = context.testPath;
		const { watch, watchAll } = config.globalConfig;
		this.mayFilesChange = watch || watchAll;
	}

	async setup() {
		await super.setup();
		// Jest creates a new function for each test file, and each reads the source maps again.
		prepareStackTrace ??= Error.prepareStackTrace;
		if (!this.mayFilesChange) Error.prepareStackTrace = prepareStackTrace;
		// Node's default. Jest sets 100, which makes each of our many errors slower.
		Error.stackTraceLimit = 10;
	}

	handleTestEvent({ name, test }) {
		if (CPU_LOG === undefined) return;
		if (name === 'test_start') this.cpuBefore = process.cpuUsage();
		if (name !== 'test_done') return;

		const { user, system } = process.cpuUsage(this.cpuBefore);
		const names = [];
		for (let block = test; block.parent; block = block.parent) names.unshift(block.name);
		const line = { file: this.file, name: names.join(' > '), ms: (user + system) / 1_000 };
		appendFileSync(CPU_LOG, `${JSON.stringify(line)}\n`);
	}

	async teardown() {
		this.moduleMocker.restoreAllMocks();
		for (const [signal, before] of this.listeners) {
			for (const listener of process.listeners(signal)) {
				if (!before.includes(listener)) process.removeListener(signal, listener);
			}
		}
		// Jest wraps `exit` once more for each file, and stores the file's tests under a new symbol.
		process.exit = exit;
		for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
			if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol];
		}
		await super.teardown();
		// A small heap is freed in time when the worker ends.
		if (process.memoryUsage().heapUsed > LARGEST_HEAP_BYTES) collectGarbage();
	}
};
